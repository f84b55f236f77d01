import type { DataSource } from 'typeorm';

interface Properties {
  readonly encoding: string;
  readonly takes_writes: boolean;
}

const PROPERTIES = `
  SELECT current_setting('server_encoding') AS encoding,
    NOT current_setting('transaction_read_only')::boolean AS takes_writes`;

/** @throws Error when the gateway could not serve with this database, though it can be connected to */
export async function assertUsable(dataSource: DataSource): Promise<void> {
  const rows: readonly Properties[] = await dataSource.query(PROPERTIES);
  for (const { encoding, takes_writes } of rows) {
    if (encoding !== 'UTF8') throw new Error(`its encoding is ${encoding}, and has to be UTF8`);
    if (!takes_writes) throw new Error('it takes no writes (a standby does not)');
  }
}
