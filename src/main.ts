import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { setUpApp } from './app.setup.js';
import { messageForOperator, wrapError } from './common/errors/describe-error.js';
import { LinkedExpressAdapter } from './server/linked-express.adapter.js';
import { AppConfig } from './config/environment.js';
import { isDatabaseUnavailable, explainDatabaseFailure } from './database/database-errors.js';
import { endOnSignals, stopOnSignals } from './server/shutdown.js';

// The gateway keeps running when its log cannot be written.
process.stdout.on('error', () => undefined);
const started = endOnSignals();
try {
  const adapter = new LinkedExpressAdapter();
  const app = await NestFactory.create<NestExpressApplication>(AppModule, adapter, {
    bodyParser: false,
    // Until the gateway's own logger is there: Nest would print what goes wrong once more, with a stack.
    logger: false,
    abortOnError: false,
  });
  setUpApp(app, adapter);
  const config = app.get(AppConfig);
  await app.init().catch((cause: unknown) => {
    const isOfServer = config.DATABASE_URL !== undefined && isDatabaseUnavailable(cause);
    throw isOfServer ? explainDatabaseFailure(cause) : cause;
  });
  await app.listen(config.PORT, config.listenHost).catch((cause: unknown) => {
    throw wrapError('The gateway cannot listen on HOST and PORT', cause);
  });
  started();
  stopOnSignals(app);
  process.stdout.write(`Tollgate listens on ${await app.getUrl()}\n`);
} catch (error) {
  process.stderr.write(`${messageForOperator(error)}\n`);
  process.exit(1);
}
