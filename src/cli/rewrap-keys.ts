import 'reflect-metadata';
import type { DataSource } from 'typeorm';
import { messageForOperator } from '../common/errors/describe-error.js';
import { loadKeyRing } from '../sealing/key-ring.js';
import { rewrapColumn } from '../sealing/rewrap.js';
import { Sealer } from '../sealing/sealer.js';
import { readCommandSettings, onDatabase } from './command.js';
import { exitWithError } from './fail.js';
import { SEALED_COLUMNS } from './sealed-columns.js';

// The reader of the output may stop early (`| head`); the work continues.
process.stdout.on('error', () => undefined);

if (process.argv.length > 2) exitWithError('usage: npm run keys:rewrap, which takes no arguments', 2);
else {
  try {
    const settings = readCommandSettings();
    const sealer = new Sealer(loadKeyRing(settings));
    await onDatabase(settings, (dataSource) => rewrapAll(dataSource, sealer));
  } catch (error) {
    exitWithError(messageForOperator(error), 1);
  }
}

async function rewrapAll(dataSource: DataSource, sealer: Sealer): Promise<void> {
  for (const column of SEALED_COLUMNS) {
    const name = column.nameIn(dataSource);
    const { rewrapped, current, refused } = await rewrapColumn(dataSource, sealer, column);
    process.stdout.write(`${name}: ${rewrapped} re-wrapped, ${current} under the current key before\n`);
    for (const [reason, count] of refused) exitWithError(`${name}: ${count} not re-wrapped: ${reason}`, 1);
  }
}
