import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { generateApiKey } from '../../src/api-keys/api-key-format.js';
import { AppModule } from '../../src/app.module.js';
import { setUpApp } from '../../src/app.setup.js';
import { LinkedExpressAdapter } from '../../src/server/linked-express.adapter.js';
import { Clock } from '../../src/common/time/clock.js';
import { appConfig } from '../../src/config/config.module.js';
import { loadConfig } from '../../src/config/environment.js';
import { LOGGER } from '../../src/telemetry/logger.js';
import { GatheredLog } from './gathered-log.js';
import { TestClock } from './test-clock.js';
import { testDatabase } from './test-database.js';

/** The first admin key of every test gateway of this run. */
export const ADMIN_KEY = generateApiKey();
export const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');

export interface TestApp {
  readonly app: NestExpressApplication;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly clock: TestClock;
  readonly dataSource: DataSource;
  /** Everything that was logged so far, at the most talkative level. */
  readonly log: () => string;
  close(): Promise<void>;
}

/** The whole gateway on a port of its own, on this jest worker's database, emptied first unless told otherwise. */
export async function startTestApp(
  settings: Readonly<Record<string, string>> = {},
  keepDatabase = false,
): Promise<TestApp> {
  const database = await testDatabase();
  if (!keepDatabase) await database.empty();
  const { REDIS_URL } = process.env;
  const config = loadConfig({
    NODE_ENV: 'test',
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'trace',
    ...database.settings,
    TOLLGATE_ADMIN_KEY: ADMIN_KEY,
    TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY,
    EGRESS_ALLOW: '127.0.0.1',
    // No provider of a test gets a question that the test did not cause.
    PROVIDER_JOB_CHECK_MS: '3600000',
    ...(REDIS_URL === undefined ? {} : { REDIS_URL }),
    ...settings,
  });
  const log = new GatheredLog('trace');
  const clock = new TestClock();
  const testing = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(appConfig.KEY)
    .useValue(config)
    .overrideProvider(LOGGER)
    .useValue(log.logger)
    .overrideProvider(Clock)
    .useValue(clock)
    .compile();
  const adapter = new LinkedExpressAdapter();
  const app = testing.createNestApplication<NestExpressApplication>(adapter, { bodyParser: false });
  setUpApp(app, adapter);
  try {
    await app.listen(0, '127.0.0.1');
  } catch (error) {
    await app.close();
    throw error;
  }
  return new RunningApp(app, await app.getUrl(), clock, log);
}

/** The variables of a spec stay in memory as long as its worker. They must not keep an application of 8 MB that is closed. */
class RunningApp implements TestApp {
  #app: NestExpressApplication | undefined;

  constructor(
    app: NestExpressApplication,
    readonly url: string,
    readonly clock: TestClock,
    private readonly gathered: GatheredLog,
  ) {
    this.#app = app;
  }

  get app(): NestExpressApplication {
    if (this.#app === undefined) throw new Error('this gateway is closed');
    return this.#app;
  }

  get dataSource(): DataSource {
    return this.app.get(DataSource);
  }

  readonly log = (): string => this.gathered.text;

  async close(): Promise<void> {
    if (this.#app === undefined) return;
    const app = this.#app;
    app.getHttpServer().closeAllConnections();
    await app.close();
    this.#app = undefined;
  }
}
