import type { DataSource } from 'typeorm';
import { loadKeyRing } from '../sealing/key-ring.js';
import { Sealer } from '../sealing/sealer.js';
import { Organisation } from '../workspaces/organisation.entity.js';
import { AdminKeys } from './admin-keys.js';
import { type CommandCall, UsageError } from './command.js';
import { assertDatabase, onDatabase } from './on-database.js';

const USAGE = 'usage: npm run keys:admin [-- <slug of the organisation>]';
const DEFAULT_SLUG = 'default';

export async function makeAdminKey({ words, readSettings, print }: CommandCall): Promise<number> {
  const [slug = DEFAULT_SLUG, ...others] = words;
  if (others.length > 0 || slug.startsWith('-')) throw new UsageError(USAGE);
  const settings = assertDatabase(readSettings());
  const sealer = new Sealer(loadKeyRing(settings));
  const key = await onDatabase(settings, async (dataSource) => {
    const { id } = await findOrganisation(dataSource, slug);
    const keys = await AdminKeys.open(dataSource, sealer, 'keys:admin');
    return dataSource.transaction((manager) => keys.make(manager, id));
  });
  print(`\n  A new admin key of the organisation ${slug}, shown only this once:\n\n    ${key}\n\n`);
  return 0;
}

async function findOrganisation(dataSource: DataSource, slug: string): Promise<Organisation> {
  const organisation = await dataSource.getRepository(Organisation).findOneBy({ slug });
  if (organisation !== null) return organisation;
  throw new Error(
    `The database has no organisation ${slug}. The first start of the gateway makes one, ${DEFAULT_SLUG}.`,
  );
}
