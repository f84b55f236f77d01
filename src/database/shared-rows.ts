import type { EntityMetadata } from 'typeorm';

/** How rows become what is the same in several of them, and what each has of its own. */
export interface RowShape<Item> {
  /** Whether two have all of the shared columns alike. */
  readonly isAlike: (one: Item, other: Item) => boolean;
  /** By column of the database, as JSON has it. */
  readonly sharedOf: (item: Item) => Readonly<Record<string, unknown>>;
  /** The same, and at `place` what it is given. */
  readonly ownOf: (item: Item, place: number) => Readonly<Record<string, unknown>> & { readonly place: number };
}

/** With how many of the parts before it a row is compared: the caller that was busy a moment ago is busy still. */
const COMPARED = 16;

/**
 * An INSERT of any number of rows that have much in common, which is sent once: its two parameters are what `sharedRows` makes.
 * Rows that are there already stay as they are. Columns that the database fills in by itself are left out.
 * @param own columns that are each row's own, as the database names them
 */
export function sharedRowsInsertion({ columns, tableName }: EntityMetadata, own: readonly string[]): string {
  const given = columns.filter((column) => typeof column.default !== 'function');
  const typeOf = new Map(
    given.map(({ databaseName, type, isArray }) => [databaseName, `${String(type)}${isArray ? '[]' : ''}`]),
  );
  const shared = given.map(({ databaseName }) => databaseName).filter((name) => !own.includes(name));
  const names = (list: readonly string[]): string => list.map((name) => `"${name}"`).join(', ');
  const typed = (list: readonly string[]): string => list.map((name) => `"${name}" ${typeOf.get(name)}`).join(', ');
  return `INSERT INTO "${tableName}" (${names([...own, ...shared])})
    SELECT ${names([...own, ...shared])}
    FROM json_to_recordset($2) AS o("place" integer, ${typed(own)})
    JOIN ROWS FROM (json_to_recordset($1) AS (${typed(shared)})) WITH ORDINALITY AS s(${names(shared)}, "place")
      USING ("place")
    ON CONFLICT DO NOTHING`;
}

/** The parameters of a `sharedRowsInsertion`. */
export function sharedRows<Item>(
  items: readonly Item[],
  { isAlike, sharedOf, ownOf }: RowShape<Item>,
): [shared: string, own: string] {
  const firsts: Item[] = [];
  const rows = items.map((item) => {
    const end = Math.max(0, firsts.length - COMPARED);
    let place = firsts.length;
    while (place > end && !isAlike(firsts[place - 1] ?? item, item)) place -= 1;
    if (place === end) place = firsts.push(item);
    return ownOf(item, place);
  });
  return [JSON.stringify(firsts.map(sharedOf)), JSON.stringify(rows)];
}
