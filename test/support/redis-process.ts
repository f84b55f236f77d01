import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe } from '@jest/globals';
import { Redis } from 'ioredis';
import { redisServer } from './services.js';

export const HOST = '127.0.0.1';
/** A password that must be encoded in a URL. */
export const PASSWORD = 'p@ss:word/7';

/** Since version 7, the ports between cluster nodes are configurable, and slots can be assigned as ranges. */
const canStart =
  Number(/v=(\d+)/.exec(spawnSync('redis-server', ['--version'], { encoding: 'utf8' }).stdout)?.[1]) >= 7;

/** For tests that stop Redis servers: own servers, where Redis tests are allowed and one is installed. */
export const onOwnRedis = canStart && redisServer !== undefined ? describe : describe.skip;

export interface RedisProcess {
  readonly port: number;
  readonly process: ChildProcess;
  /** Repeats the command without a limit, also while the server is down. */
  readonly client: Redis;
}

export function urlOf(host: string, port?: number): string {
  return `redis://:${encodeURIComponent(PASSWORD)}@${host}${port === undefined ? '' : `:${port}`}`;
}

/**
 * @param words of the command line; the server must listen at `port` of 127.0.0.1 and require the password
 * @throws when it exits before it answers
 */
export async function startRedis(port: number, words: readonly string[]): Promise<RedisProcess> {
  const process = spawn('redis-server', words, { stdio: 'ignore' });
  const client = new Redis(port, HOST, { password: PASSWORD, maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  const ended = once(process, 'close').then(([code]) => Promise.reject(new Error(`redis-server ended: ${code}`)));
  try {
    await Promise.race([client.ping(), ended]);
  } catch (error) {
    client.disconnect();
    throw error;
  }
  ended.catch(() => undefined);
  return { port, process, client };
}

/** `--name value` for each setting. */
export function wordsOf(options: Readonly<Record<string, string | number>>): readonly string[] {
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

export function kill({ client, process }: RedisProcess, signal: 'SIGKILL' | 'SIGSTOP'): void {
  client.disconnect();
  process.kill(signal);
}

/** Returns when the process has ended. */
export async function end(server: RedisProcess): Promise<void> {
  const { client, process } = server;
  if (client.status !== 'end') client.disconnect();
  const hasEnded = process.exitCode !== null || process.signalCode !== null || once(process, 'close');
  process.kill('SIGKILL');
  await hasEnded;
}
