import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Redis } from 'ioredis';
import { AppConfig } from '../config/environment.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { commandOf, redisReason } from './redis-reason.js';

const CONNECT_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 1_000;

/** Written to see whether the server takes writes; nobody reads it. */
const READY_KEY = 'tollgate:ready';
const READY_KEY_MS = 1_000;

/** The optional Redis. A command fails at once while there is no connection; reconnecting goes on in the background. */
@Injectable()
export class RedisConnection implements OnModuleInit, OnApplicationShutdown {
  /** undefined without REDIS_URL. */
  readonly client: Redis | undefined;

  constructor(config: AppConfig, @Inject(LOGGER) logger: Logger) {
    if (config.REDIS_URL === undefined) return;
    this.client = new Redis(config.REDIS_URL, {
      connectTimeout: CONNECT_TIMEOUT_MS,
      commandTimeout: COMMAND_TIMEOUT_MS,
      maxRetriesPerRequest: 1,
      enableOfflineQueue: false,
      lazyConnect: true,
      reconnectOnError: takesNoWrites,
    });
    this.client.on('error', (cause) => {
      // Else the connection would serve with database 0.
      if (commandOf(cause) === 'select') this.client?.disconnect(true);
    });
    warnOnce(this.client, logger);
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
 * for each until it succeeds is enough.
 */
function warnOnce(client: Redis, logger: Logger): void {
  const told = new Set<string>();
  client.on('ready', () => told.clear());
  client.on('error', (cause) => {
    const reason = redisReason(cause);
    if (!told.has(reason)) logger.warn({ event: 'redis_error', reason });
    told.add(reason);
  });
}

/** Whether a command failed at a replica. Its server was the primary, as a rule: by now the address leads to another one. */
function takesNoWrites({ message }: Error): boolean {
  return message.includes('READONLY');
}
