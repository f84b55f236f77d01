import 'reflect-metadata';
import type { DataSource } from 'typeorm';
import { ApiKeyHasher } from '../api-keys/api-key-hasher.js';
import { ApiKeyIssuer } from '../api-keys/api-key-issuer.js';
import { AuditLogEntry } from '../audit/audit-log-entry.entity.js';
import { AuditService } from '../audit/audit.service.js';
import { operatorMessage } from '../common/errors/operator-message.js';
import { Clock } from '../common/time/clock.js';
import { loadKeyRing } from '../sealing/load-key-ring.js';
import { Sealer } from '../sealing/sealer.js';
import { ServerSecrets } from '../sealing/server-secrets.js';
import { Organisation } from '../workspaces/organisation.entity.js';
import { readCommandSettings } from './command-settings.js';
import { fail } from './fail.js';
import { onDatabase } from './on-database.js';

const USAGE = 'usage: npm run keys:admin [-- <slug of the organisation>]';
const DEFAULT_SLUG = 'default';

const [slug = DEFAULT_SLUG, ...others] = process.argv.slice(2);

if (others.length > 0 || slug.startsWith('-')) fail(USAGE, 2);
else {
  try {
    const settings = readCommandSettings();
    const sealer = new Sealer(loadKeyRing(settings));
    const key = await onDatabase(settings, (dataSource) => makeAdminKey(dataSource, sealer));
    process.stdout.write(`\n  A new admin key of the organisation ${slug}, shown only this once:\n\n    ${key}\n\n`);
  } catch (error) {
    fail(operatorMessage(error), 1);
  }
}

async function makeAdminKey(dataSource: DataSource, sealer: Sealer): Promise<string> {
  const organisation = await findOrganisation(dataSource);
  const hasher = new ApiKeyHasher(new ServerSecrets(dataSource, sealer));
  await hasher.onModuleInit();
  const issuer = new ApiKeyIssuer(hasher, new Clock());
  const audit = new AuditService(dataSource.getRepository(AuditLogEntry));
  return dataSource.transaction(async (manager) => {
    const { apiKey, key } = await issuer.issueAdmin(manager, organisation.id, 'admin key from the command line');
    const actor = { kind: 'gateway', id: 'keys:admin', organisationId: organisation.id } as const;
    await audit.record(manager, actor, {
      action: 'api_keys.create',
      resourceType: 'api-key',
      resourceId: apiKey.id,
      workspaceId: null,
      changedFields: ['name', 'scopes'],
    });
    return key;
  });
}

async function findOrganisation(dataSource: DataSource): Promise<Organisation> {
  const organisation = await dataSource.getRepository(Organisation).findOneBy({ slug });
  if (organisation !== null) return organisation;
  throw new Error(
    `The database has no organisation ${slug}. The first start of the gateway makes one, ${DEFAULT_SLUG}, with an admin key.`,
  );
}
