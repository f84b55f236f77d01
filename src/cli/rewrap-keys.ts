import { loadKeyRing } from '../sealing/key-ring.js';
import { rewrapColumn } from '../sealing/rewrap.js';
import { Sealer } from '../sealing/sealer.js';
import { type CommandCall, UsageError } from './command.js';
import { assertDatabase, onDatabase } from './on-database.js';
import { SEALED_COLUMNS } from './sealed-columns.js';

/** Ends with 1 when a value could not be opened, after it has gone through all. */
export async function rewrapKeys({ words, readSettings, print, printError }: CommandCall): Promise<number> {
  if (words.length > 0) throw new UsageError('usage: npm run keys:rewrap, which takes no arguments');
  const settings = assertDatabase(readSettings());
  const sealer = new Sealer(loadKeyRing(settings));
  return onDatabase(settings, async (dataSource) => {
    let code = 0;
    for (const column of SEALED_COLUMNS) {
      const name = column.nameIn(dataSource);
      const { rewrapped, current, refused } = await rewrapColumn(dataSource, sealer, column);
      print(`${name}: ${rewrapped} re-wrapped, ${current} under the current key before\n`);
      for (const [reason, count] of refused) {
        printError(`${name}: ${count} not re-wrapped: ${reason}\n`);
        code = 1;
      }
    }
    return code;
  });
}
