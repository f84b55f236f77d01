import 'reflect-metadata';
import { operatorMessage } from '../common/errors/operator-message.js';
import { readSettings } from '../config/read-settings.js';
import { TollgateDataSource } from '../database/tollgate-data-source.js';
import { ENTITIES } from '../entities.js';
import { loadKeyRing } from '../sealing/load-key-ring.js';
import { rewrapColumn } from '../sealing/rewrap.js';
import { Sealer } from '../sealing/sealer.js';
import { SEALED_COLUMNS } from './sealed-columns.js';

// Whoever reads along may stop early (`| head`); the work goes on.
process.stdout.on('error', () => undefined);

try {
  const settings = readSettings();
  const dataSource = new TollgateDataSource(settings, ENTITIES, { statementTimeout: 'none' });
  await dataSource.initialize();
  try {
    const sealer = new Sealer(loadKeyRing(settings));
    for (const column of SEALED_COLUMNS) {
      const name = column.nameIn(dataSource);
      const { rewrapped, current, refused } = await rewrapColumn(dataSource, sealer, column);
      process.stdout.write(`${name}: ${rewrapped} re-wrapped, ${current} under the current key before\n`);
      for (const [reason, count] of refused) complain(`${name}: ${count} not re-wrapped: ${reason}`);
    }
  } finally {
    await dataSource.destroy();
  }
} catch (error) {
  complain(operatorMessage(error));
}

function complain(line: string): void {
  process.stderr.write(`${line}\n`);
  process.exitCode = 1;
}
