import { isNativeError } from 'node:util/types';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Cluster } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { settledWithin } from '../common/time/timeout.js';
import { AppConfig } from '../config/environment.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { errorCodeOf } from '../common/errors/describe-error.js';
import { createRedisClient, type RedisClient } from './redis-client.js';

const WARN_EVERY_MS = 60_000;
const MAX_REASONS = 100;

/** A little more than connecting may take. */
const START_WAIT_MS = 3_000;
/** Written to see whether the server takes writes; its value is never read. */
const READY_KEY = 'tollgate:ready';
const READY_KEY_MS = 1_000;
/** In as many slots: that one node is away must not take all gateways out. */
const CLUSTER_READY_KEYS = Array.from({ length: 8 }, (_none, index) => `${READY_KEY}:${index}`);

/** The optional Redis. A command fails at once while there is no connection; reconnecting goes on in the background. */
@Injectable()
export class RedisConnection implements OnModuleInit, OnApplicationShutdown {
  /** undefined without a Redis in the settings. */
  readonly client: RedisClient | undefined;

  constructor(config: AppConfig, @Inject(LOGGER) logger: Logger) {
    this.client = createRedisClient(config);
    if (this.client === undefined) return;
    this.client.on('error', (cause) => {
      // Else the connection would serve with database 0.
      if (commandOf(cause) === 'select') this.client?.disconnect(true);
    });
    warn(this.client, logger);
  }

  /**
   * Waits for the first connection, so that the first requests find it. Without one the gateway starts all the same: what
   * ioredis answers may never come where a cluster is not well.
   */
  async onModuleInit(): Promise<void> {
    if (this.client === undefined) return;
    await settledWithin(START_WAIT_MS, this.client.connect());
  }

  /** What keeps the configured Redis from being written, for the log; undefined when nothing does, or without one. */
  async whyNotReady(): Promise<string | undefined> {
    const { client } = this;
    if (client === undefined) return undefined;
    const keys = client instanceof Cluster ? CLUSTER_READY_KEYS : [READY_KEY];
    try {
      await Promise.any(keys.map((key) => client.set(key, '', 'PX', READY_KEY_MS)));
      return undefined;
    } catch (failure) {
      return redisReason(failure instanceof AggregateError ? failure.errors[0] : failure);
    }
  }

  onApplicationShutdown(): void {
    this.client?.disconnect();
  }
}

/**
 * Without a listener ioredis prints to the console. It tries again and again, and may fail in more than one way: one line
 * a minute for each, until it succeeds, is enough.
 */
function warn(client: RedisClient, logger: Logger): void {
  const told = new LRUCache<string, true>({ max: MAX_REASONS, ttl: WARN_EVERY_MS });
  const tell = (cause: unknown): void => {
    const reason = redisReason(cause);
    if (told.has(reason)) return;
    told.set(reason, true);
    logger.warn({ event: 'redis_error', reason });
  };
  client.on('ready', () => told.clear());
  client.on('error', tell);
  // Of a cluster, and of sentinels: one fails, and the others serve.
  client.on('node error', tell);
  client.on('sentinelError', tell);
}

/** The client and the rate limiter have no codes for these; their sentences are all there is. */
const SENTENCES = [
  [/^All sentinels are unreachable/, 'no sentinel names the primary'],
  [/No such master with that name/, 'a sentinel does not know the name'],
  // ioredis keeps the cause to itself. A refusal of the sentinel has a word of its own.
  [/^failed to connect to sentinel \S+ because (?![A-Z]{3,} )/, 'a sentinel cannot be reached'],
  [/timed out|^timeout$|^Socket timeout/, 'no answer in time'],
  [/not ready|isn't (?:ready|writeable)|is closed/, 'no connection'],
  // Others say so of a node that they no longer reach.
  [/^Too many Cluster redirections.*(?:MOVED|ASK) /, 'no connection to a node'],
  [/Failed to refresh slots/, 'no node of the cluster answers'],
] as const;

/** Of Redis, also at the last of the tries that a cluster had, or by a sentinel. */
const REFUSAL =
  /^(?:Too many Cluster redirections\. Last error: \w+: |failed to connect to sentinel \S+ because )?([A-Z]{3,})/;

/** A command of Redis failed. Its message may be logged; that of the client may hold a password. */
export class RedisFailedError extends Error {
  constructor(cause: unknown) {
    super(`redis: ${redisReason(cause)}`);
    this.name = 'RedisFailedError';
  }
}

/**
 * What is wrong with Redis, for the log: a code of the network (`ECONNREFUSED`), or the word with which Redis begins a
 * refusal and the command that it was for (`ERR (select)`). Messages may hold the address, and that a password.
 */
export function redisReason(cause: unknown): string {
  if (!isNativeError(cause)) return 'unknown';
  const { message } = cause;
  const known = SENTENCES.find(([sentence]) => sentence.test(message))?.[1];
  if (known !== undefined) return known;
  const word = errorCodeOf(cause) ?? REFUSAL.exec(message)?.[1] ?? cause.name;
  const command = commandOf(cause);
  return command === undefined ? word : `${word} (${command})`;
}

/** The name of the command that Redis refused, without its arguments. */
function commandOf(cause: Error): string | undefined {
  if (!('command' in cause) || typeof cause.command !== 'object' || cause.command === null) return undefined;
  return 'name' in cause.command && typeof cause.command.name === 'string' ? cause.command.name : undefined;
}
