import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Cluster } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { doneWithin } from '../common/time/done-within.js';
import { AppConfig } from '../config/environment.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { createRedisClient, type RedisClient } from './redis-client.js';
import { commandOf, redisReason } from './redis-reason.js';

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
    const connecting = this.client.connect().catch(() => undefined);
    await doneWithin(START_WAIT_MS, connecting);
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
