import { describe, expect, it } from '@jest/globals';
import { loadConfig } from './config/environment.js';
import { startReport } from './start-report.js';

const FACTS = { migrations: { applied: 1, known: 1, last: 'Baseline1' }, unpriced: [] };
const KEY = Buffer.alloc(32, 7).toString('base64');
const PRODUCTION = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://user:hunter2@db.example:6432/gate%20way?sslmode=require',
  TOLLGATE_ENCRYPTION_KEY: KEY,
};

function codesOf(settings: Readonly<Record<string, string>>, unpriced: readonly string[] = []): readonly string[] {
  const { warnings } = Object(startReport(loadConfig(settings), { ...FACTS, unpriced }));
  return warnings.map((warning: { readonly code: string }) => warning.code);
}

describe('the report of a start', () => {
  it('says what runs, on which stores, with which optional parts', () => {
    const settings = {
      ...PRODUCTION,
      REDIS_URL: 'redis://user:hunter3@cache:6380/1',
      METRICS_PORT: '9100',
      DOCS: 'off',
    };
    expect(startReport(loadConfig(settings), FACTS)).toMatchObject({
      event: 'starting',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      node: process.version,
      environment: 'production',
      host: '0.0.0.0',
      port: 8787,
      metrics_port: 9100,
      database: { kind: 'postgresql', host: 'db.example', port: 6432, name: 'gate way' },
      migrations: FACTS.migrations,
      redis: { kind: 'server', hosts: ['cache:6380'] },
      parts: ['metrics_port', 'console'],
    });
  });

  it('names each optional part that is on, and none that is off', () => {
    const parts = (settings: Readonly<Record<string, string>>): object =>
      startReport(loadConfig({ ...PRODUCTION, DOCS: 'off', CONSOLE: 'off', ...settings }), FACTS);
    expect(parts({})).toMatchObject({ parts: [] });
    const settings = {
      DATABASE_OUTAGE_GRACE_SECONDS: '60',
      USAGE_LEDGER_DAYS: '90',
      REQUEST_LOG_BODIES: '/var/lib/bodies',
      USAGE_UNPRICED: 'allow',
    };
    const expected = ['outage_grace', 'ledger_retention', 'bodies_of_calls', 'unpriced_calls'];
    expect(parts(settings)).toMatchObject({ parts: expected });
  });

  it('knows an embedded database, a socket, sentinels and a cluster', () => {
    const report = (settings: Readonly<Record<string, string>>): object => startReport(loadConfig(settings), FACTS);
    expect(report({})).toMatchObject({ database: { kind: 'embedded', folder: './data' }, redis: { kind: 'none' } });
    const DATABASE_URL = 'postgres://user:secret@/tollgate?host=/run/postgresql';
    expect(report({ DATABASE_URL, TOLLGATE_ENCRYPTION_KEY: KEY })).toMatchObject({
      database: { host: '/run/postgresql', name: 'tollgate' },
    });
    expect(report({ REDIS_CLUSTER_URLS: 'redis://:p@a:1, redis://:p@b:2' })).toMatchObject({
      redis: { kind: 'cluster', hosts: ['a:1', 'b:2'] },
    });
  });

  it('holds no secret', () => {
    const REDIS_URL = 'redis://user:hunter2@cache:6380/1';
    const secrets = { ...PRODUCTION, REDIS_URL, METRICS_TOKEN: 'hunter2-hunter2-hunter2' };
    const text = JSON.stringify(startReport(loadConfig(secrets), FACTS));
    expect(text).not.toContain('hunter');
    expect(text).not.toContain(KEY);
  });

  it('warns of what is open beyond this machine, and of nothing that is closed', () => {
    const open = ['no_signing_key', 'plain_http', 'metrics_open', 'docs_open'];
    expect(codesOf(PRODUCTION)).toEqual(open);
    // On the embedded database the gateway makes a signing key.
    expect(codesOf({ HOST: '0.0.0.0' })).toEqual([...open.slice(1), 'not_production']);
    expect(codesOf({})).toEqual([]);
    const closed = { ...PRODUCTION, METRICS_TOKEN: 'x'.repeat(16), DOCS: 'key' };
    expect(codesOf(closed)).toEqual(['no_signing_key', 'plain_http']);
    expect(codesOf({ ...PRODUCTION, METRICS_PORT: '9100', DOCS: 'off', HOST: '127.0.0.1' })).toEqual([
      'no_signing_key',
    ]);
  });

  it('warns of models in use without a price', () => {
    expect(codesOf({}, ['cohere/rerank-x'])).toEqual(['price_missing']);
  });
});
