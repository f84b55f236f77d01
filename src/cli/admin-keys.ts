import type { DataSource, EntityManager } from 'typeorm';
import { ApiKeyHasher } from '../api-keys/api-key-hasher.js';
import { ApiKeyIssuer, entryOf } from '../api-keys/api-key-issuer.js';
import { AuditLogEntry } from '../audit/audit-log-entry.entity.js';
import { AuditService } from '../audit/audit.service.js';
import { Clock } from '../common/time/clock.js';
import type { Sealer } from '../sealing/sealer.js';
import { ServerSecrets } from '../sealing/server-secrets.js';

/** Makes admin keys for commands, which the audit log knows by their names in package.json. */
export class AdminKeys {
  private constructor(
    private readonly issuer: ApiKeyIssuer,
    private readonly audit: AuditService,
    private readonly command: string,
  ) {}

  /** Before a transaction: on the embedded database, nothing else can be read during one. */
  static async open(dataSource: DataSource, sealer: Sealer, command: string): Promise<AdminKeys> {
    const hasher = new ApiKeyHasher(new ServerSecrets(dataSource, sealer));
    await hasher.onModuleInit();
    const audit = new AuditService(dataSource.getRepository(AuditLogEntry));
    return new AdminKeys(new ApiKeyIssuer(hasher, new Clock()), audit, command);
  }

  async make(manager: EntityManager, organisationId: string): Promise<string> {
    const { apiKey, key } = await this.issuer.issueAdmin(manager, organisationId, 'admin key from the command line');
    const actor = { kind: 'gateway', id: this.command, organisationId } as const;
    await this.audit.record(manager, actor, entryOf('create', apiKey, ['name', 'scopes']));
    return key;
  }
}
