import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { databaseServer, onServer } from './support/services.js';
import { type Answer, jsonOf, refusalOf } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';
import { testDatabase } from './support/test-database.js';

const MISSING = { status: 404, code: 'not_found', param: null, source: 'gateway' };

let gateway: TestApp;
let admin: GatewayClient;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
});
afterAll(() => gateway.close());

onServer('a workspace that several change at once (needs DATABASE_URL: the embedded database has one session)', () => {
  /** Stands in the way of everybody else. */
  let session: Client;

  beforeAll(async () => {
    if (databaseServer === undefined) return;
    session = new Client({ connectionString: (await testDatabase()).url });
    await session.connect();
  });

  afterAll(() => session.end());

  /** Sends the requests so that they wait for the row, in this order, and lets them go on together. */
  async function together(id: string, requests: readonly (() => Promise<Answer>)[]): Promise<readonly Answer[]> {
    await session.query('BEGIN');
    await session.query('SELECT FROM "workspaces" WHERE "id" = $1 FOR UPDATE', [id]);
    return afterwards(requests);
  }

  /** The same for requests that wait for what the session has done by now. */
  async function afterwards(requests: readonly (() => Promise<Answer>)[]): Promise<readonly Answer[]> {
    const answers: Promise<Answer>[] = [];
    for (const request of requests) {
      answers.push(request());
      await eventually(async () => (await waiting()) === answers.length, 4_000);
    }
    await session.query('COMMIT');
    return Promise.all(answers);
  }

  async function waiting(): Promise<number> {
    const waiters: readonly unknown[] = await gateway.dataSource.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return waiters.length;
  }

  it('is deleted once, and written down once', async () => {
    const id = await admin.createWorkspace('Deleted twice');
    const remove = () => admin.delete(`/v1/workspaces/${id}`);
    const [first, second] = await together(id, [remove, remove]);
    expect(first?.status).toBe(204);
    expect(second && refusalOf(second)).toEqual(MISSING);
    const entries = await admin.list(`/v1/audit-logs?resource=${id}`);
    expect(entries.map((entry) => entry['action'])).toEqual(['workspaces.delete', 'workspaces.create']);
  });

  it('stays deleted when a change comes behind', async () => {
    const id = await admin.createWorkspace('Deleted and changed');
    const path = `/v1/workspaces/${id}`;
    const [removed, changed] = await together(id, [
      () => admin.delete(path),
      () => admin.patch(path, { description: 'back again' }),
    ]);
    expect(removed?.status).toBe(204);
    expect(changed && refusalOf(changed)).toEqual(MISSING);
    expect(refusalOf(await admin.get(path))).toEqual(MISSING);
  });

  it('has every change, each made to what the one before it left', async () => {
    const id = await admin.createWorkspace('Changed twice');
    const path = `/v1/workspaces/${id}`;
    const [, second] = await together(id, [
      () => admin.patch(path, { name: 'Renamed' }),
      () => admin.patch(path, { description: 'described' }),
    ]);
    const both = { name: 'Renamed', description: 'described' };
    expect(second && jsonOf(second)).toMatchObject(both);
    expect(await admin.read(path)).toMatchObject(both);
  });
});
