import { type FindOperator, ILike } from 'typeorm';

/** Rows whose column has this text in it, in upper or lower case, and taken letter by letter. */
export function containsText(text: string): FindOperator<string> {
  return ILike(`%${text.replace(/[\\%_]/g, '\\$&')}%`);
}
