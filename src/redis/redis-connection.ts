import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AppConfig } from '../config/environment.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { createRedisClient, type RedisClient } from './redis-client.js';
import { commandOf, redisReason } from './redis-reason.js';

const WARN_EVERY_MS = 60_000;
const MAX_REASONS = 100;

/** Written to see whether the server takes writes; nobody reads it. */
const READY_KEY = 'tollgate:ready';
const READY_KEY_MS = 1_000;

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

  /** Waits for the first connection, so that the first requests find it. Without one the gateway starts all the same. */
  async onModuleInit(): Promise<void> {
    await this.client?.connect().catch(() => undefined);
  }

  /** What keeps the configured Redis from being written, for the log; undefined when nothing does, or without one. */
  async whyNotReady(): Promise<string | undefined> {
    try {
      await this.client?.set(READY_KEY, '', 'PX', READY_KEY_MS);
      return undefined;
    } catch (cause) {
      return redisReason(cause);
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
  // Of a cluster: one node fails, and the others serve.
  client.on('node error', tell);
}
