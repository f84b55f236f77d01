import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Redis } from 'ioredis';
import { errorCodeOf } from '../common/errors/error-code-of.js';
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
    // Without a listener ioredis prints to the console. It tries again and again: one line for each thing that is wrong is enough.
    let known: string | undefined;
    this.client.on('ready', () => (known = undefined));
    this.client.on('error', (cause) => {
      const reason = reasonOf(cause);
      if (reason !== known) logger.warn({ event: 'redis_error', reason });
      known = reason;
    });
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

/** `ECONNREFUSED`, or the word with which a refusal of Redis begins (`WRONGPASS`). Messages hold the address, and that a password. */
function reasonOf(cause: Error): string {
  return errorCodeOf(cause) ?? /^[A-Z]{3,}/.exec(cause.message)?.[0] ?? cause.name;
}
