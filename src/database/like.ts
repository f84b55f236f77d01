import { type FindOperator, ILike } from 'typeorm';

/** Matches rows whose column contains the text in either case; `%` and `_` are literal. */
export function containsText(text: string): FindOperator<string> {
  return ILike(`%${text.replace(/[\\%_]/g, '\\$&')}%`);
}
