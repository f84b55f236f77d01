import { join } from 'node:path';
import { messageForOperator } from '../common/errors/describe-error.js';
import type { AppConfig } from '../config/environment.js';
import { copyDatabase } from '../database/copy-database.js';
import { endOnCrash } from '../database/embedded/embedded-database.js';
import { hasAllMigrations } from '../database/run-migrations.js';
import { TollgateDataSource } from '../database/tollgate-data-source.js';
import { ENTITIES } from '../entities.js';
import { loadKeyRing } from '../sealing/key-ring.js';
import { Sealer } from '../sealing/sealer.js';
import { countUndecryptable } from '../sealing/rewrap.js';
import { type CommandCall, UsageError } from './command.js';
import { assertEmbeddedDatabase } from './on-database.js';
import { SEALED_COLUMNS } from './sealed-columns.js';

const USAGE = 'usage: npm run database:copy, from the embedded database in DATA_DIR into the empty one of DATABASE_URL';

export async function copyEmbeddedDatabase({ words, readSettings, print, printError }: CommandCall): Promise<number> {
  if (words.length > 0) throw new UsageError(USAGE);
  try {
    await copy(readSettings(), print);
    return 0;
  } catch (error) {
    printError(`Nothing was copied: ${messageForOperator(error)}\n`);
    return 1;
  }
}

async function copy(settings: AppConfig, print: CommandCall['print']): Promise<void> {
  const { DATABASE_URL, ...embedded } = settings;
  if (DATABASE_URL === undefined) throw new Error('DATABASE_URL is not set, the database to copy into');
  assertEmbeddedDatabase(settings.DATA_DIR);
  const source = new TollgateDataSource(embedded, ENTITIES, { onCrash: endOnCrash });
  await source.initialize();
  try {
    if (!(await hasAllMigrations(source))) {
      throw new Error(`${settings.DATA_DIR} is of another version: start this one's gateway on it once, and stop it`);
    }
    await assertKeys(source, settings);
    for (const { name, rows } of await copyTo(settings, source)) print(`${name}: ${rows} copied\n`);
  } finally {
    await source.destroy();
  }
}

/** Otherwise the gateway would not start on the copy, or not open the credentials in it. */
async function assertKeys(source: TollgateDataSource, settings: AppConfig): Promise<void> {
  const sealer = new Sealer(loadKeyRing(settings));
  const problems: string[] = [];
  for (const column of SEALED_COLUMNS) {
    for (const [reason, count] of await countUndecryptable(source, sealer, column)) {
      problems.push(`  - ${column.nameIn(source)}: ${count} not opened: ${reason}\n`);
    }
  }
  if (problems.length === 0) return;
  throw new Error(
    `the encryption keys do not open what is in ${settings.DATA_DIR}:\n${problems.join('')}` +
      `Its key is the content of ${join(settings.DATA_DIR, 'encryption.key')}, or the one that its gateway was given. ` +
      'Set TOLLGATE_ENCRYPTION_KEY to it, or add it to TOLLGATE_ENCRYPTION_KEYS_PREVIOUS.',
  );
}

async function copyTo(settings: AppConfig, source: TollgateDataSource): ReturnType<typeof copyDatabase> {
  const target = await new TollgateDataSource(settings, ENTITIES, { statementTimeout: 'none' }).initialize();
  try {
    return await copyDatabase(source, target);
  } finally {
    await target.destroy();
  }
}
