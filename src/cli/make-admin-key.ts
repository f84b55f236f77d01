import 'reflect-metadata';
import type { DataSource } from 'typeorm';
import { messageForOperator } from '../common/errors/describe-error.js';
import { loadKeyRing } from '../sealing/key-ring.js';
import { Sealer } from '../sealing/sealer.js';
import { Organisation } from '../workspaces/organisation.entity.js';
import { AdminKeys } from './admin-keys.js';
import { readCommandSettings, onDatabase } from './command.js';
import { exitWithError } from './fail.js';
const USAGE = 'usage: npm run keys:admin [-- <slug of the organisation>]';
const DEFAULT_SLUG = 'default';

const [slug = DEFAULT_SLUG, ...others] = process.argv.slice(2);

if (others.length > 0 || slug.startsWith('-')) exitWithError(USAGE, 2);
else {
  try {
    const settings = readCommandSettings();
    const sealer = new Sealer(loadKeyRing(settings));
    const key = await onDatabase(settings, (dataSource) => makeAdminKey(dataSource, sealer));
    process.stdout.write(`\n  A new admin key of the organisation ${slug}, shown only this once:\n\n    ${key}\n\n`);
  } catch (error) {
    exitWithError(messageForOperator(error), 1);
  }
}

async function makeAdminKey(dataSource: DataSource, sealer: Sealer): Promise<string> {
  const { id } = await findOrganisation(dataSource);
  const keys = await AdminKeys.open(dataSource, sealer, 'keys:admin');
  return dataSource.transaction((manager) => keys.make(manager, id));
}

async function findOrganisation(dataSource: DataSource): Promise<Organisation> {
  const organisation = await dataSource.getRepository(Organisation).findOneBy({ slug });
  if (organisation !== null) return organisation;
  throw new Error(
    `The database has no organisation ${slug}. The first start of the gateway makes one, ${DEFAULT_SLUG}.`,
  );
}
