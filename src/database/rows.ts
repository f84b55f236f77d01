import { type EntityManager, type ObjectLiteral, type EntityMetadata, type FindOperator, ILike } from 'typeorm';
import { isSameValue } from '../common/same-value.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { slugFromName, withSuffix } from '../common/slug.js';
import { violatedUniqueIndex } from './database-errors.js';

// `insertRow` and `updateRow` are for rows with JSON that callers form. TypeORM's `save` takes such JSON apart: it loses lists and
// objects under names that every object inherits, and fails where a field is named `hasOwnProperty`.

/** Writes a new row, and fills in what the database has made of it: its id and its times. */
export async function insertRow<Row extends ObjectLiteral>(manager: EntityManager, row: Row): Promise<Row> {
  await manager.insert(row.constructor, row);
  return row;
}

/**
 * Writes the fields that get another value. Returns a row with them, or the given one, which stays as it was read, if there are none.
 * @param isTouched something that belongs to the row has changed beside it: it has another time of its last update
 */
export async function updateRow<Row extends ObjectLiteral>(
  manager: EntityManager,
  row: Row,
  changes: Partial<NoInfer<Row>>,
  isTouched = false,
): Promise<Row> {
  const changed = Object.entries(changes).filter(([name, value]) => !isSameValue(value, Reflect.get(row, name)));
  if (changed.length === 0 && !isTouched) return row;
  const values = Object.fromEntries(changed);
  const updated: Row = Object.assign(Object.create(Object.getPrototypeOf(row)), row, values);
  await manager.createQueryBuilder().update(row.constructor).set(values).whereEntity(updated).execute();
  return updated;
}

/** A `select` of every column, also of the sealed ones, which queries leave out unless they are named. */
export function allColumns({ columns }: EntityMetadata): Readonly<Record<string, true>> {
  return Object.fromEntries(columns.map(({ propertyName }) => [propertyName, true]));
}

/** Matches rows whose column contains the text in either case; `%` and `_` are literal. */
export function containsText(text: string): FindOperator<string> {
  return ILike(patternOf(text));
}

/** The pattern of `containsText`, for statements that compare with `ILIKE`. */
export function patternOf(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

const MAX_TRIES = 5;

/**
 * Runs an insert with the wanted slug, or with one made from the name. The database decides what is taken: a made slug is
 * tried again with a suffix, a wanted one that is taken is a `conflict`.
 */
export async function withFreeSlug<Result>(
  wanted: string | undefined,
  name: string,
  insert: (slug: string) => Promise<Result>,
): Promise<Result> {
  let slug = wanted ?? slugFromName(name);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await insert(slug);
    } catch (error) {
      if (violatedUniqueIndex(error)?.endsWith('slug') !== true) throw error;
      if (wanted !== undefined || attempt === MAX_TRIES) throw slugTaken();
      slug = withSuffix(slugFromName(name));
    }
  }
}

function slugTaken(): GatewayError {
  return new GatewayError('conflict', { message: 'slug is already taken', param: 'slug' });
}
