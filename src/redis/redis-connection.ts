import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Redis } from 'ioredis';
import { AppConfig } from '../config/environment.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';

const CONNECT_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 1_000;

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
    });
    // Without a listener ioredis prints to the console; the address may hold a password and is not logged.
    this.client.on('error', (cause) => logger.warn({ event: 'redis_error', name: cause.name }));
  }

  /** Waits for the first connection, so that the first requests find it. Without one the gateway starts all the same. */
  async onModuleInit(): Promise<void> {
    await this.client?.connect().catch(() => undefined);
  }

  /** Whether the configured Redis answers; true without one. */
  async isReady(): Promise<boolean> {
    if (this.client === undefined) return true;
    try {
      return (await this.client.ping()) === 'PONG';
    } catch {
      return false;
    }
  }

  onApplicationShutdown(): void {
    this.client?.disconnect();
  }
}
