import type { DataSource, EntityMetadata } from 'typeorm';
import { violatedUniqueIndex } from './database-errors.js';

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

/** Writes many rows of one table in one statement, which says once what several of them have in common. */
export class SharedRows<Item> {
  private readonly insertion: string;

  /** @param own columns that are each row's own, as the database names them; those that it fills in by itself are left out */
  constructor(
    private readonly database: Pick<DataSource, 'query'>,
    metadata: EntityMetadata,
    own: readonly string[],
    private readonly shape: RowShape<Item>,
  ) {
    this.insertion = insertionInto(metadata, own);
  }

  /** All of them or none. Rows that are there already stay as they are. */
  async insert(items: readonly Item[]): Promise<void> {
    const parameters = sharedRows(items, this.shape);
    try {
      await this.database.query(this.insertion, parameters);
    } catch (error) {
      if (violatedUniqueIndex(error) === undefined) throw error;
      // To look for each row first costs a fifth of the statement, and they come again only when an answer was lost.
      await this.database.query(`${this.insertion} ON CONFLICT DO NOTHING`, parameters);
    }
  }
}

/** Its parameters are what `sharedRows` makes. */
function insertionInto({ columns, tableName }: EntityMetadata, own: readonly string[]): string {
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
      USING ("place")`;
}

/** What the rows share, and the rows, as JSON. */
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
