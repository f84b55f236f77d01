import type { DataSource } from 'typeorm';
import { SLUG_PATTERN } from '../common/slug.js';
import { violatedUniqueIndex } from '../database/database-errors.js';
import { loadKeyRing } from '../sealing/key-ring.js';
import { Sealer } from '../sealing/sealer.js';
import { Organisation } from '../workspaces/organisation.entity.js';
import { Workspace, DEFAULT_WORKSPACE } from '../workspaces/workspace.entity.js';
import { AdminKeys } from './admin-keys.js';
import { type CommandCall, UsageError } from './command.js';
import { assertDatabase, onDatabase } from './on-database.js';

const USAGE = 'usage: npm run organisations:create -- <slug: letters, digits, - and _> [<name>]';
const MAX_LENGTH = 255;

interface Names {
  readonly slug: string;
  readonly name: string;
}

interface Made {
  readonly id: string;
  readonly key: string;
}

export async function createOrganisation({ words, readSettings, print }: CommandCall): Promise<number> {
  const names = readNames(words);
  const settings = assertDatabase(readSettings());
  const sealer = new Sealer(loadKeyRing(settings));
  const { id, key } = await onDatabase(settings, (dataSource) => create(dataSource, sealer, names));
  print(`\n  Organisation ${names.slug} (${id}), with the workspace ${DEFAULT_WORKSPACE.slug}.\n`);
  print(`  Its admin key, shown only this once:\n\n    ${key}\n\n`);
  return 0;
}

function readNames([slug = '', name = slug, ...others]: readonly string[]): Names {
  const isUsable = SLUG_PATTERN.test(slug) && !slug.startsWith('-') && name.trim() !== '' && !/\p{Cc}/u.test(name);
  if (others.length > 0 || !isUsable || slug.length > MAX_LENGTH || name.length > MAX_LENGTH)
    throw new UsageError(USAGE);
  return { slug, name };
}

async function create(dataSource: DataSource, sealer: Sealer, { slug, name }: Names): Promise<Made> {
  // An empty database belongs to the first start, which makes the first organisation and does nothing when there is one.
  if (!(await dataSource.getRepository(Organisation).exists())) {
    throw new Error(
      'The database has no organisation yet: the first start of the gateway makes one, with an admin key.',
    );
  }
  const keys = await AdminKeys.open(dataSource, sealer, 'organisations:create');
  return dataSource
    .transaction(async (manager) => {
      const { id } = await manager.save(manager.create(Organisation, { slug, name }));
      await manager.save(manager.create(Workspace, { ...DEFAULT_WORKSPACE, organisationId: id }));
      return { id, key: await keys.make(manager, id) };
    })
    .catch((cause: unknown) => {
      if (violatedUniqueIndex(cause) !== 'uq_organisations_slug') throw cause;
      throw new Error(`There is an organisation ${slug} already.`, { cause });
    });
}
