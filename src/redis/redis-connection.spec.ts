import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { loadConfig } from '../config/environment.js';
import { createLogger } from '../telemetry/logger.js';
import { RedisConnection } from './redis-connection.js';

const PASSWORD = 'hunter2';
const REFUSED = Object.assign(new Error(`connect ECONNREFUSED redis://:${PASSWORD}@cache`), { code: 'ECONNREFUSED' });
const WRONG = new Error('WRONGPASS invalid username-password pair or user is disabled.');

let log: string;
let connection: RedisConnection;

beforeEach(() => {
  log = '';
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      log += chunk.toString();
      done();
    },
  });
  const config = loadConfig({ REDIS_URL: `redis://:${PASSWORD}@127.0.0.1:1` });
  connection = new RedisConnection(config, createLogger('info', sink));
});
afterEach(() => connection.onApplicationShutdown());

const reasons = (): readonly string[] => [...log.matchAll(/"reason":"([^"]*)"/g)].map(([, reason = '']) => reason);

it.each([
  ['the code of the network', REFUSED, 'ECONNREFUSED'],
  ['the word of Redis', WRONG, 'WRONGPASS'],
  ['a name where nothing else is known', new TypeError('no idea'), 'TypeError'],
])('what is wrong with Redis is in the log by %s, without the password', (_what, error, reason) => {
  connection.client?.emit('error', error);
  expect(reasons()).toEqual([reason]);
  expect(log).not.toMatch(new RegExp(`${PASSWORD}|cache|invalid`));
});

it('is there once for each outage, and for each reason of it', () => {
  for (const error of [REFUSED, REFUSED, WRONG, WRONG]) connection.client?.emit('error', error);
  connection.client?.emit('ready');
  connection.client?.emit('error', WRONG);
  expect(reasons()).toEqual(['ECONNREFUSED', 'WRONGPASS', 'WRONGPASS']);
});
