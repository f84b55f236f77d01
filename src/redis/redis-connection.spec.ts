import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../test/support/eventually.js';
import { GatheredLog } from '../../test/support/gathered-log.js';
import { loadConfig } from '../config/environment.js';
import { createLogger } from '../telemetry/logger.js';
import { FaultyRedis, refusing, silent } from './__fixtures__/faulty-redis.js';
import { RedisConnection, redisReason } from './redis-connection.js';

const PASSWORD = 'hunter2';
const REFUSED = Object.assign(new Error(`connect ECONNREFUSED redis://:${PASSWORD}@cache`), { code: 'ECONNREFUSED' });
const WRONG = Object.assign(new Error('WRONGPASS invalid username-password pair or user is disabled.'), {
  command: { name: 'auth', args: [PASSWORD] },
});
const READONLY = "READONLY You can't write against a read only replica.";

let log: GatheredLog;

function connectionTo(settings: Readonly<Record<string, string>>): RedisConnection {
  return new RedisConnection(loadConfig(settings), log.logger);
}
const reasons = (): readonly string[] => [...log.text.matchAll(/"reason":"([^"]*)"/g)].map(([, reason = '']) => reason);

beforeEach(() => {
  log = new GatheredLog('info');
});

describe('the log', () => {
  let connection: RedisConnection;

  beforeEach(() => {
    connection = connectionTo({ REDIS_URL: `redis://:${PASSWORD}@127.0.0.1:1` });
  });
  afterEach(() => connection.onApplicationShutdown());

  it.each([
    ['the code of the network', REFUSED, 'ECONNREFUSED'],
    ['the word of Redis and the command', WRONG, 'WRONGPASS (auth)'],
    ['a name where nothing else is known', new TypeError('no idea'), 'TypeError'],
  ])('logs what is wrong with Redis by %s, without the password', (_what, error, reason) => {
    connection.client?.emit('error', error);
    expect(reasons()).toEqual([reason]);
    expect(log.text).not.toMatch(new RegExp(`${PASSWORD}|cache|invalid`));
  });

  it('logs each reason once per outage, also when reasons alternate', () => {
    for (const error of [REFUSED, WRONG, REFUSED, WRONG]) connection.client?.emit('error', error);
    connection.client?.emit('ready');
    connection.client?.emit('error', WRONG);
    expect(reasons()).toEqual(['ECONNREFUSED', 'WRONGPASS (auth)', 'WRONGPASS (auth)']);
  });
});

describe('a Redis', () => {
  let redis: FaultyRedis;
  let connection: RedisConnection;

  beforeEach(async () => {
    redis = new FaultyRedis();
    connection = connectionTo({ REDIS_URL: `redis://127.0.0.1:${await redis.listen()}/3` });
  });
  afterEach(async () => {
    connection.onApplicationShutdown();
    await redis.close();
  });
  const status = (): string | undefined => connection.client?.status;

  it('is ready when Redis accepts writes', async () => {
    await connection.onModuleInit();
    expect(await connection.whyNotReady()).toBeUndefined();
    expect(redis.received).toContain('\r\nselect\r\n');
  });

  it('is not ready when Redis accepts no more writes, and connects again', async () => {
    await connection.onModuleInit();
    redis.answer = refusing({ set: READONLY });
    expect(await connection.whyNotReady()).toBe('READONLY (set)');
    redis.answer = refusing({});
    await eventually(() => redis.connections === 2 && status() === 'ready');
    expect(await connection.whyNotReady()).toBeUndefined();
  });

  it('is not ready when Redis is full, and keeps its connection', async () => {
    await connection.onModuleInit();
    redis.answer = refusing({ set: "OOM command not allowed when used memory > 'maxmemory'." });
    expect(await connection.whyNotReady()).toBe('OOM (set)');
    expect(status()).toBe('ready');
    expect(redis.connections).toBe(1);
  });

  it('is not ready when Redis hangs', async () => {
    await connection.onModuleInit();
    redis.answer = silent;
    expect(await connection.whyNotReady()).toBe('no answer in time');
  });

  it('is not ready and sends no command when Redis lacks the database of the URL, and tries again', async () => {
    redis.answer = refusing({ select: 'ERR DB index is out of range' });
    await connection.onModuleInit();
    expect(await connection.whyNotReady()).toBe('no connection');
    expect(reasons()).toContain('ERR (select)');
    expect(redis.received).not.toContain('\r\nset\r\n');
    redis.answer = refusing({});
    await eventually(() => status() === 'ready');
    expect(await connection.whyNotReady()).toBeUndefined();
  });
});

it('is not ready while no node of a cluster answers, and logs it once', async () => {
  const nodes = [1, 2].map((port) => `redis://:${PASSWORD}@127.0.0.1:${port}`);
  const connection = connectionTo({ REDIS_CLUSTER_URLS: nodes.join() });
  await connection.onModuleInit();
  expect(await connection.whyNotReady()).toBe('no connection');
  try {
    // Tried again after a tenth of a second, and so on.
    let failures = 0;
    connection.client?.on('error', () => (failures += 1));
    await eventually(() => failures >= 3);
    expect(reasons()).toEqual(['no connection', 'no node of the cluster answers']);
    expect(log.text).not.toContain(PASSWORD);
  } finally {
    connection.onApplicationShutdown();
  }
});

it.each([
  ['Too many Cluster redirections. Last error: ReplyError: CLUSTERDOWN Hash slot not served', 'CLUSTERDOWN'],
  ['Too many Cluster redirections. Last error: Error: Connection is closed.', 'no connection'],
  ['Too many Cluster redirections. Last error: ReplyError: MOVED 3999 127.0.0.1:6381', 'no connection to a node'],
  ["Socket timeout. Expecting data, but didn't receive any in 3000ms.", 'no answer in time'],
  ["Cluster isn't ready and enableOfflineQueue options is false", 'no connection'],
  ['timeout', 'no answer in time'],
  ['All sentinels are unreachable. Retrying from scratch after 10ms.', 'no sentinel names the primary'],
  ['failed to connect to sentinel a:1 because ERR No such master with that name', 'a sentinel does not know the name'],
  ['failed to connect to sentinel a:1 because NOAUTH Authentication required.', 'NOAUTH'],
  ['failed to connect to sentinel a:1 because Command timed out', 'a sentinel cannot be reached'],
  ['failed to connect to sentinel a:1 because Connection is closed.', 'a sentinel cannot be reached'],
])('reports what a cluster or a sentinel lacks: %s', (message, reason) => {
  expect(redisReason(new Error(message))).toBe(reason);
});

it('asks sentinels and servers with their own accounts and TLS', () => {
  const connection = connectionTo({
    REDIS_URL: 'rediss://user:of-the-server@my_Primary/3',
    REDIS_SENTINEL_URLS: `rediss://sentinel:p%40ss@a.example, rediss://sentinel:p%40ss@[::1]:5000`,
  });
  expect(connection.client?.options).toMatchObject({
    sentinels: [{ host: 'a.example' }, { host: '::1', port: 5000 }],
    name: 'my_Primary',
    sentinelUsername: 'sentinel',
    sentinelPassword: 'p@ss',
    sentinelTLS: expect.anything(),
    sentinelCommandTimeout: expect.any(Number),
    enableTLSForSentinelMode: true,
    username: 'user',
    password: 'of-the-server',
    db: 3,
    tls: expect.anything(),
  });
  const plain = connectionTo({ REDIS_URL: 'redis://name', REDIS_SENTINEL_URLS: 'redis://a' });
  for (const name of ['sentinelTLS', 'tls']) expect(plain.client?.options).not.toHaveProperty(name, expect.anything());
});

it('is ready when no Redis is configured', async () => {
  const connection = new RedisConnection(loadConfig({}), createLogger('silent'));
  expect(await connection.whyNotReady()).toBeUndefined();
});
