import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { setUpApp } from './app.setup.js';
import { LinkedExpressAdapter } from './common/http/linked-express.adapter.js';
import { AppConfig } from './config/environment.js';
import { stopOnSignals } from './shutdown.js';

try {
  const adapter = new LinkedExpressAdapter();
  const app = await NestFactory.create<NestExpressApplication>(AppModule, adapter, {
    bodyParser: false,
    logger: ['fatal', 'error', 'warn'],
    abortOnError: false,
  });
  setUpApp(app, adapter);
  const config = app.get(AppConfig);
  await app.listen(config.PORT, config.HOST);
  stopOnSignals(app);
  process.stdout.write(`Tollgate listens on ${await app.getUrl()}\n`);
} catch (error) {
  // One clear line for what an operator can mend; the stack only helps with defects.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
