import type { EntityManager, ObjectLiteral } from 'typeorm';
import { isSameValue } from '../common/same-value.js';

// For rows with JSON that callers may form as they like. TypeORM's `save` takes such JSON apart: it loses lists and objects under
// names that every object inherits, and fails where a field is named `hasOwnProperty`.

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
