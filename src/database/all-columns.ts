import type { EntityMetadata } from 'typeorm';

/** A `select` of every column, also of the sealed ones, which queries leave out unless they are named. */
export function allColumns({ columns }: EntityMetadata): Readonly<Record<string, true>> {
  return Object.fromEntries(columns.map(({ propertyName }) => [propertyName, true]));
}
