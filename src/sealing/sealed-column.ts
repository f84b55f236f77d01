import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import { placeIn, type SealedPlace } from './sealer.js';

const BATCH_ROWS = 500;

export interface SealedValue {
  /** The primary key of the row. */
  readonly primaryKey: string;
  readonly sealed: string;
  readonly place: SealedPlace;
}

/** A column whose values are all sealed, or null. */
export interface SealedColumn {
  /** `<table>.<column>` */
  nameIn(dataSource: DataSource): string;
  /** All values in the order of the primary key, read in batches; default 500 rows. */
  values(dataSource: DataSource, batchRows?: number): AsyncIterable<SealedValue>;
  /** Replaces the value by `sealed`. Returns false when the value has changed since it was read. */
  replace(dataSource: DataSource, value: SealedValue, sealed: string): Promise<boolean>;
}

/**
 * The table must have a primary key of one column, of text or uuid.
 * @param property the entity's name for the column
 * @param placeOf by default as `placeIn`, for rows that belong to an organisation
 */
export function sealedColumn<Row extends ObjectLiteral>(
  entity: new () => Row,
  property: keyof Row & string,
  placeOf?: (row: Row) => SealedPlace,
): SealedColumn {
  return {
    nameIn: (dataSource) => {
      const { table, column } = describe(dataSource, entity, property);
      return `${table.tableName}.${column.databaseName}`;
    },
    async *values(dataSource, batchRows = BATCH_ROWS) {
      const { table, column, primary } = describe(dataSource, entity, property);
      let after: string | undefined;
      do {
        const query = dataSource.createQueryBuilder(entity, 'row').addSelect(`row.${property}`);
        query.where(`row.${property} IS NOT NULL`).orderBy(`row.${primary.propertyName}`).limit(batchRows);
        if (after !== undefined) query.andWhere(`row.${primary.propertyName} > :after`, { after });
        const rows = await query.getMany();
        after = undefined;
        for (const row of rows) {
          after = String(primary.getEntityValue(row));
          const owner = { id: after, organisationId: String(row['organisationId']) };
          const place = placeOf?.(row) ?? placeIn(table.tableName, column.databaseName)(owner);
          yield { primaryKey: after, sealed: String(row[property]), place };
        }
      } while (after !== undefined);
    },
    replace: async (dataSource, { primaryKey, sealed: old }, sealed) => {
      const { table, column, primary } = describe(dataSource, entity, property);
      // Plain SQL, since TypeORM would set `updated_at`, although nothing that callers see has changed.
      const [, affected]: readonly [unknown, number] = await dataSource.query(
        `UPDATE "${table.tableName}" SET "${column.databaseName}" = $1
         WHERE "${primary.databaseName}" = $2 AND "${column.databaseName}" = $3`,
        [sealed, primaryKey, old],
      );
      return affected === 1;
    },
  };
}

interface Described {
  readonly table: EntityMetadata;
  readonly column: EntityMetadata['columns'][number];
  readonly primary: EntityMetadata['columns'][number];
}

function describe(dataSource: DataSource, entity: new () => ObjectLiteral, property: string): Described {
  const table = dataSource.getMetadata(entity);
  const column = table.findColumnWithPropertyName(property);
  const [primary, another] = table.primaryColumns;
  if (column === undefined || primary === undefined || another !== undefined) {
    throw new Error(`${table.tableName} does not have a column ${property} and a primary key of one column`);
  }
  return { table, column, primary };
}
