import 'reflect-metadata';
import type { DataSource } from 'typeorm';
import { messageForOperator } from '../common/errors/describe-error.js';
import { SLUG_PATTERN } from '../common/slug.js';
import { violatedUniqueIndex } from '../database/database-errors.js';
import { loadKeyRing } from '../sealing/key-ring.js';
import { Sealer } from '../sealing/sealer.js';
import { Organisation } from '../workspaces/organisation.entity.js';
import { Workspace, DEFAULT_WORKSPACE } from '../workspaces/workspace.entity.js';
import { AdminKeys } from './admin-keys.js';
import { readCommandSettings, onDatabase } from './command.js';
import { exitWithError } from './fail.js';
const USAGE = 'usage: npm run organisations:create -- <slug: letters, digits, - and _> [<name>]';
const MAX_LENGTH = 255;

interface Made {
  readonly id: string;
  readonly key: string;
}

const [slug = '', name = slug, ...others] = process.argv.slice(2);
const isUsable = SLUG_PATTERN.test(slug) && !slug.startsWith('-') && name.trim() !== '' && !/\p{Cc}/u.test(name);

if (others.length > 0 || !isUsable || slug.length > MAX_LENGTH || name.length > MAX_LENGTH) exitWithError(USAGE, 2);
else {
  try {
    const settings = readCommandSettings();
    const sealer = new Sealer(loadKeyRing(settings));
    const { id, key } = await onDatabase(settings, (dataSource) => createOrganisation(dataSource, sealer));
    process.stdout.write(`\n  Organisation ${slug} (${id}), with the workspace ${DEFAULT_WORKSPACE.slug}.\n`);
    process.stdout.write(`  Its admin key, shown only this once:\n\n    ${key}\n\n`);
  } catch (error) {
    const isTaken = violatedUniqueIndex(error) === 'uq_organisations_slug';
    exitWithError(isTaken ? `There is an organisation ${slug} already.` : messageForOperator(error), 1);
  }
}

async function createOrganisation(dataSource: DataSource, sealer: Sealer): Promise<Made> {
  // An empty database belongs to the first start, which makes the first organisation and does nothing when there is one.
  if (!(await dataSource.getRepository(Organisation).exists())) {
    throw new Error(
      'The database has no organisation yet: the first start of the gateway makes one, with an admin key.',
    );
  }
  const keys = await AdminKeys.open(dataSource, sealer, 'organisations:create');
  return dataSource.transaction(async (manager) => {
    const { id } = await manager.save(manager.create(Organisation, { slug, name }));
    await manager.save(manager.create(Workspace, { ...DEFAULT_WORKSPACE, organisationId: id }));
    return { id, key: await keys.make(manager, id) };
  });
}
