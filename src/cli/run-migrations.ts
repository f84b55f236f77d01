import 'reflect-metadata';
import { messageForOperator } from '../common/errors/describe-error.js';
import { runMigrations } from '../database/run-migrations.js';
import type { TollgateDataSource } from '../database/tollgate-data-source.js';
import dataSource from './data-source.js';

// `npm run migration:run`: what the gateway does when it starts, so that functions are applied as well.
try {
  await migrate(dataSource);
  process.stdout.write('The tables and functions of the database are those of this version.\n');
} catch (error) {
  process.stderr.write(`${messageForOperator(error)}\n`);
  process.exitCode = 1;
}

async function migrate(source: TollgateDataSource): Promise<void> {
  await source.initialize();
  try {
    await runMigrations(source);
  } finally {
    await source.destroy();
  }
}
