import { type EntityMetadata, type FindOperator, ILike } from 'typeorm';

/** A `select` of every column, also of the sealed ones, which queries leave out unless they are named. */
export function allColumns({ columns }: EntityMetadata): Readonly<Record<string, true>> {
  return Object.fromEntries(columns.map(({ propertyName }) => [propertyName, true]));
}

/** Matches rows whose column contains the text in either case; `%` and `_` are literal. */
export function containsText(text: string): FindOperator<string> {
  return ILike(`%${text.replace(/[\\%_]/g, '\\$&')}%`);
}
