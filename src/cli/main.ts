// `node dist/src/cli/main.js <command> …`: the commands that work on what a gateway has stored. package.json has the same names.
import 'reflect-metadata';
import { readSettings } from '../config/environment.js';
import { type Command, runCommand } from './command.js';

/** Loaded when called: most need TypeORM, which takes a second. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['database:copy', async () => (await import('./copy-database.js')).copyEmbeddedDatabase],
  ['keys:admin', async () => (await import('./make-admin-key.js')).makeAdminKey],
  ['keys:generate', async () => (await import('./generate-keys.js')).generateKeys],
  ['keys:rewrap', async () => (await import('./rewrap-keys.js')).rewrapKeys],
  ['organisations:create', async () => (await import('./create-organisation.js')).createOrganisation],
  ['prices:import', async () => (await import('./import-price-list.js')).importPriceList],
]);

// The reader of the output may stop early (`| head`); the work continues.
process.stdout.on('error', () => undefined);

const [name = '', ...words] = process.argv.slice(2);
const load = COMMANDS.get(name);
if (load === undefined) {
  process.stderr.write(`usage: node dist/src/cli/main.js <${[...COMMANDS.keys()].join('|')}> …\n`);
  process.exitCode = 2;
} else {
  process.exitCode = await runCommand(await load(), {
    words,
    readSettings,
    print: (text) => process.stdout.write(text),
    printError: (text) => process.stderr.write(text),
  });
}
