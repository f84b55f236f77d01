import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Column, Entity, PrimaryColumn, VirtualColumn } from 'typeorm';
import { testDatabase } from '../../test/support/test-database.js';
import { allColumns } from './rows.js';
import { TollgateDataSource } from './tollgate-data-source.js';

const TABLE = 'all_columns_spec';

@Entity(TABLE)
class Sample {
  @PrimaryColumn({ type: 'integer' })
  id!: number;

  @Column({ name: 'sealed_value', type: 'text', nullable: true, select: false })
  sealedValue!: string | null;

  @VirtualColumn('json', { query: () => 'SELECT 7' })
  computed!: number;
}

let source: TollgateDataSource;

beforeAll(async () => {
  const { url, poolSize } = await testDatabase();
  const settings = { DATABASE_URL: url, DATABASE_POOL_SIZE: poolSize, DATA_DIR: 'unused' };
  source = await new TollgateDataSource(settings, [Sample]).initialize();
  await source.query(`CREATE TABLE ${TABLE} (id integer PRIMARY KEY, sealed_value text)`);
  await source.query(`INSERT INTO ${TABLE} VALUES (1, 'sealed')`);
});
afterAll(async () => {
  await source.query(`DROP TABLE ${TABLE}`);
  await source.destroy();
});

it('reads computed columns and columns that queries leave out', async () => {
  const rows = source.getRepository(Sample);
  expect(await rows.find({ select: allColumns(rows.metadata) })).toEqual([
    { id: 1, sealedValue: 'sealed', computed: 7 },
  ]);
  expect(await rows.find()).toEqual([{ id: 1, computed: 7 }]);
});
