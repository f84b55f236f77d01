import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { eventually } from '../../../test/support/eventually.js';
import { TollgateDataSource } from '../tollgate-data-source.js';

/** How `pg_dump` begins. */
const SET_SEARCH_PATH = `SELECT pg_catalog.set_config('search_path', '', false)`;

/** Much longer than the database takes to open again, even on a busy machine. */
const REOPENED_MS = 25_000;

jest.setTimeout(60_000);

describe('a connection to the embedded database beside the gateway', () => {
  let dataDir: string;
  let gateway: TollgateDataSource;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'tollgate-embedded-'));
    gateway = new TollgateDataSource({ DATABASE_URL: undefined, DATABASE_POOL_SIZE: 5, DATA_DIR: dataDir }, []);
    await gateway.initialize();
    await gateway.query('CREATE TABLE things AS SELECT 1 AS size');
  });
  afterAll(async () => {
    await gateway.destroy();
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function intrude(): Promise<void> {
    const intruder = new Client({ host: join(dataDir, 'run'), user: 'postgres', database: 'postgres' });
    intruder.on('error', () => undefined);
    try {
      await intruder.connect();
      await intruder.query(SET_SEARCH_PATH);
    } finally {
      await intruder.end();
    }
  }

  async function sizes(): Promise<unknown> {
    return gateway.query('SELECT size FROM things');
  }

  it('refuses a second connection and does not disturb the gateway', async () => {
    await expect(intrude()).rejects.toThrow();
    expect(await sizes()).toEqual([{ size: 1 }]);
  });

  it('refuses a second connection while the gateway is idle', async () => {
    // The pool closes connections that idle for ten seconds, unless configured otherwise.
    await new Promise((resolve) => setTimeout(resolve, 11_000));
    await expect(intrude()).rejects.toThrow();
    expect(await sizes()).toEqual([{ size: 1 }]);
  });

  it('opens the database again after a connection that came while the gateway had none', async () => {
    const runner = gateway.createQueryRunner();
    const connection: Pick<Client, 'end'> = await runner.connect();
    await connection.end();
    await runner.release();
    for (const attempt of [intrude, sizes]) {
      const works = (): Promise<boolean> =>
        attempt().then(
          () => true,
          () => false,
        );
      await eventually(works, REOPENED_MS);
    }
    expect(await sizes()).toEqual([{ size: 1 }]);
  });
});
