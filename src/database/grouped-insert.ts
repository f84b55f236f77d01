import type { EntityMetadata } from 'typeorm';
import { violatedUniqueIndex } from './database-errors.js';

/** How a row becomes what it has in common with others, and what it has of its own. */
export interface RowShape<Item> {
  /** Whether two have all of the shared columns alike. */
  readonly isAlike: (one: Item, other: Item) => boolean;
  /** By column of the database, as JSON has it, with times in milliseconds since 1970. */
  readonly sharedOf: (item: Item) => Readonly<Record<string, unknown>>;
  /** By column and in JSON's form, as in `sharedOf`. */
  readonly ownOf: (item: Item) => Readonly<Record<string, unknown>>;
}

/** A row that waits to be written, as JSON: two texts, and one of them is that of all rows that are alike in it. */
export interface PreparedRow {
  readonly shared: string;
  readonly own: string;
}

type RowColumn = Pick<EntityMetadata['columns'][number], 'databaseName' | 'type' | 'length' | 'isArray' | 'default'>;

/** What there is to know of the table. */
export type RowTable = Pick<EntityMetadata, 'tableName'> & { readonly columns: readonly RowColumn[] };

interface Database {
  query(statement: string, parameters: unknown[]): Promise<unknown>;
}

/** With how many of the parts before it a row is compared: the caller that was busy a moment ago is busy still. */
const COMPARED = 16;
/** No column has this name. */
const ROWS = 'rows';

/** Writes many rows of one table in one statement, which says once what several of them have in common. */
export class GroupedInsert<Item> {
  private readonly insertion: string;
  /** Oldest first. */
  private readonly parts: { readonly of: Item; readonly json: string }[] = [];

  /** @param own columns that are each row's own, as the database names them; those that it fills in by itself are left out */
  constructor(
    private readonly database: Database,
    table: RowTable,
    own: readonly string[],
    private readonly shape: RowShape<Item>,
  ) {
    this.insertion = insertionInto(table, own);
  }

  readonly prepare = (item: Item): PreparedRow => {
    const { isAlike, sharedOf, ownOf } = this.shape;
    let shared: string | undefined;
    for (let at = this.parts.length - 1; shared === undefined && at >= 0; at -= 1) {
      const part = this.parts[at];
      if (part !== undefined && isAlike(part.of, item)) shared = part.json;
    }
    if (shared === undefined) {
      shared = JSON.stringify(sharedOf(item));
      if (this.parts.push({ of: item, json: shared }) > COMPARED) this.parts.shift();
    }
    return { shared, own: JSON.stringify(ownOf(item)) };
  };

  /** All of them or none. Rows that are there already stay as they are. */
  readonly insert = async (rows: readonly PreparedRow[]): Promise<void> => {
    const parameters = [groupedRows(rows)];
    try {
      await this.database.query(this.insertion, parameters);
    } catch (error) {
      if (violatedUniqueIndex(error) === undefined) throw error;
      // To look for each row first costs a fifth of the statement, and they come again only when an answer was lost.
      await this.database.query(`${this.insertion} ON CONFLICT DO NOTHING`, parameters);
    }
  };
}

/**
 * Its parameter is what `groupedRows` makes. As `jsonb`, and with times as numbers, it takes the embedded database a sixth less
 * than as `json` with times as text.
 */
function insertionInto({ columns, tableName }: RowTable, own: readonly string[]): string {
  const given = columns.filter((column) => typeof column.default !== 'function');
  const owns = given.filter(({ databaseName }) => own.includes(databaseName));
  if (owns.length !== own.length) throw new Error(`${tableName} lacks one of these columns: ${own.join(', ')}`);
  const shared = given.filter(({ databaseName }) => !own.includes(databaseName));
  return `INSERT INTO "${tableName}" (${[...owns, ...shared].map(quotedName).join(', ')})
    SELECT ${[...owns, ...shared].map(valueOf).join(', ')}
    FROM jsonb_to_recordset($1) AS shared(${shared.map(fieldOf).join(', ')}, "${ROWS}" jsonb)
    CROSS JOIN LATERAL jsonb_to_recordset("${ROWS}") AS own(${owns.map(fieldOf).join(', ')})`;
}

function quotedName({ databaseName }: RowColumn): string {
  return `"${databaseName}"`;
}

/** With its length: of a type without, each row would be checked again as it goes into the table. */
function fieldOf(column: RowColumn): string {
  const { type, length, isArray } = column;
  if (isTime(column)) return `${quotedName(column)} bigint`;
  return `${quotedName(column)} ${String(type)}${length === '' ? '' : `(${length})`}${isArray ? '[]' : ''}`;
}

function valueOf(column: RowColumn): string {
  return isTime(column) ? `to_timestamp(${quotedName(column)}::float8 / 1000)` : quotedName(column);
}

function isTime({ type }: RowColumn): boolean {
  return type === 'timestamptz';
}

/** JSON of the parts that are shared, each with its rows. */
function groupedRows(rows: readonly PreparedRow[]): string {
  const groups = new Map<string, string[]>();
  for (const { shared, own } of rows) {
    const group = groups.get(shared);
    if (group === undefined) groups.set(shared, [own]);
    else group.push(own);
  }
  const parts = [...groups].map(([shared, owns]) => `${shared.slice(0, -1)},"${ROWS}":[${owns.join(',')}]}`);
  return `[${parts.join(',')}]`;
}
