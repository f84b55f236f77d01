import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { SealedPlace } from './sealer.js';

export interface SealedValue {
  /** Of the row. */
  readonly primaryKey: string;
  readonly sealed: string;
  readonly place: SealedPlace;
}

/** A column whose values are all sealed, or null. */
export interface SealedColumn {
  /** `<table>.<column>` */
  nameIn(dataSource: DataSource): string;
  /** The next values after a row, in order of the primary key. */
  read(dataSource: DataSource, after: string | undefined, limit: number): Promise<readonly SealedValue[]>;
  /** Puts `sealed` in the value's place; false when the value is no longer what was read. */
  replace(dataSource: DataSource, value: SealedValue, sealed: string): Promise<boolean>;
}

/** `property` is the entity's name for the column. The table's primary key is one column, of text or uuid. */
export function sealedColumn<Row extends ObjectLiteral>(
  entity: new () => Row,
  property: keyof Row & string,
  placeOf: (row: Row) => SealedPlace,
): SealedColumn {
  const describe = (dataSource: DataSource): Described => {
    const table = dataSource.getMetadata(entity);
    const column = table.findColumnWithPropertyName(property);
    const [primary, another] = table.primaryColumns;
    if (column === undefined || primary === undefined || another !== undefined) {
      throw new Error(`${table.tableName} does not have a column ${property} and a primary key of one column`);
    }
    return { table, column, primary };
  };
  return {
    nameIn: (dataSource) => {
      const { table, column } = describe(dataSource);
      return `${table.tableName}.${column.databaseName}`;
    },
    read: async (dataSource, after, limit) => {
      const { primary } = describe(dataSource);
      const query = dataSource.createQueryBuilder(entity, 'row').addSelect(`row.${property}`);
      query.where(`row.${property} IS NOT NULL`).orderBy(`row.${primary.propertyName}`).limit(limit);
      if (after !== undefined) query.andWhere(`row.${primary.propertyName} > :after`, { after });
      const rows = await query.getMany();
      return rows.map((row) => ({
        primaryKey: String(primary.getEntityValue(row)),
        sealed: String(row[property]),
        place: placeOf(row),
      }));
    },
    replace: async (dataSource, { primaryKey, sealed: old }, sealed) => {
      const { table, column, primary } = describe(dataSource);
      // Plain SQL: TypeORM would set `updated_at`, and nothing has changed that a caller can see.
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
