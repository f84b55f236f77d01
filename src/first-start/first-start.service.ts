import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ApiKeyIssuer } from '../api-keys/api-key-issuer.js';
import { ApiKeySecret } from '../api-keys/api-key-secret.entity.js';
import { publicIdOf } from '../api-keys/api-key-format.js';
import { AppConfig } from '../config/environment.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { VirtualKeysService } from '../virtual-keys/virtual-keys.service.js';
import { Organisation } from '../workspaces/organisation.entity.js';
import { Workspace, DEFAULT_WORKSPACE } from '../workspaces/workspace.entity.js';

const ORGANISATION_SLUG = 'default';
const ORGANISATION_NAME = 'Default';

const WITHOUT_KEY =
  'No admin key was made: in production the gateway prints none. Set TOLLGATE_ADMIN_KEY before the first start, or run npm run keys:admin.';
const OF_A_STRANGER =
  'TOLLGATE_ADMIN_KEY has no effect: it is read only when the database is empty, and the database does not know this key.';

/** What became of the database: it was not empty, or it is usable now, with the admin key or without one. */
type Outcome = 'nothing to do' | 'without a key' | { readonly key: string };

/** Makes an empty database usable: organisation, workspace, admin key, and a virtual key for the built-in reranker. */
@Injectable()
export class FirstStartService implements OnApplicationBootstrap {
  constructor(
    private readonly dataSource: DataSource,
    private readonly issuer: ApiKeyIssuer,
    private readonly virtualKeys: VirtualKeysService,
    private readonly config: AppConfig,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const chosen = this.config.TOLLGATE_ADMIN_KEY;
    if (chosen !== undefined && publicIdOf(chosen) === undefined) {
      throw new Error('TOLLGATE_ADMIN_KEY is mistyped: its checksum is wrong (npm run keys:generate makes a new one)');
    }
    // A log that is kept must not hold the key of the whole installation.
    const mayPrint = this.config.NODE_ENV !== 'production';
    const outcome = await this.dataSource.transaction((manager) => this.fill(manager, chosen, mayPrint));
    if (outcome === 'nothing to do' && chosen !== undefined) await this.tellOfStranger(chosen);
    if (outcome === 'without a key') this.warn('no_admin_key', WITHOUT_KEY);
    if (typeof outcome === 'object' && chosen === undefined) announce(outcome.key);
  }

  /** A key that the operator chooses too late would be refused without a visible reason. */
  private async tellOfStranger(chosen: string): Promise<void> {
    const publicId = publicIdOf(chosen);
    if (await this.dataSource.manager.existsBy(ApiKeySecret, { publicId })) return;
    this.warn('admin_key_without_effect', OF_A_STRANGER);
  }

  /** Production has a log that programs read, and no other lines. */
  private warn(event: string, message: string): void {
    if (this.config.NODE_ENV === 'production') this.logger.warn({ event, message });
    else process.stderr.write(`${message}\n`);
  }

  /** All or nothing: a start that is killed leaves the database empty. */
  private async fill(manager: EntityManager, chosen: string | undefined, mayPrint: boolean): Promise<Outcome> {
    const organisationId = await claim(manager);
    if (organisationId === undefined) return 'nothing to do';
    const workspace = await manager.save(manager.create(Workspace, { ...DEFAULT_WORKSPACE, organisationId }));
    const hasKey = chosen !== undefined || mayPrint;
    const issued = hasKey && (await this.issuer.issueAdmin(manager, organisationId, 'first admin key', chosen));
    const actor = { kind: 'gateway', id: 'first-start', organisationId } as const;
    await this.virtualKeys.insert(
      manager,
      actor,
      { workspaceId: workspace.id, slug: 'local' },
      { name: 'Local reranker', provider: 'local' },
    );
    return issued === false ? 'without a key' : { key: issued.key };
  }
}

/**
 * Inserts the first organisation. The unique slug decides between gateways that start together: the others wait for this
 * transaction and then find the place taken.
 */
async function claim(manager: EntityManager): Promise<string | undefined> {
  if (await manager.exists(Organisation)) return undefined;
  const inserted: readonly { readonly id: string }[] = await manager.query(
    'INSERT INTO "organisations" ("slug", "name") VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING "id"',
    [ORGANISATION_SLUG, ORGANISATION_NAME],
  );
  return inserted[0]?.id;
}

/** Straight to the terminal and not to the log: this is the only time that the key can be read. */
function announce(key: string): void {
  process.stdout.write(`\n  Your admin key, shown only this once:\n\n    ${key}\n\n`);
}
