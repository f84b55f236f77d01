import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  ArrayContains,
  type DeepPartial,
  type EntityManager,
  type FindOptionsWhere,
  IsNull,
  Not,
  type Repository,
} from 'typeorm';
import type { Principal } from '../access/principal.js';
import { tenantWhere } from '../access/tenant-where.js';
import { addressMark, secretMark } from '../audit/audit-changes.js';
import { auditRecords } from '../audit/audit-record.js';
import { AuditService } from '../audit/audit.service.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { originOf } from '../common/http/origin.js';
import { isUuid } from '../common/uuid.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { both, pageAndOrder, searched } from '../database/list-options.js';
import { updateRow } from '../database/rows.js';
import type { WebhookListQuery } from './dto/webhook-list.query.js';
import { WebhookEndpoint } from './webhook-endpoint.entity.js';
import { WebhookEvents } from './webhook-events.js';
import { toWebhookEndpointResponse } from './webhook.response.js';

const FOR_CHANGE = 'pessimistic_write';

type Verb = 'create' | 'update' | 'delete' | 'rotate_secret' | 'disable' | 'test' | 'redeliver';

export const entryOf = auditRecords<Verb>('webhooks', 'webhook-endpoint');

/** Reads and writes endpoints, always within a tenant, and every change together with its entry in the audit log. */
@Injectable()
export class WebhookEndpointStore {
  constructor(
    @InjectRepository(WebhookEndpoint) private readonly rows: Repository<WebhookEndpoint>,
    private readonly audit: AuditService,
    private readonly events: WebhookEvents,
  ) {}

  /** @param owner limits the list to one workspace that the caller can see */
  async list(
    principal: Principal,
    query: WebhookListQuery,
    owner: { readonly workspaceId?: string },
  ): Promise<[WebhookEndpoint[], number]> {
    const { status, event, search } = query;
    const filter: FindOptionsWhere<WebhookEndpoint> = withoutUndefined({
      disabledAt: status && (status === 'enabled' ? IsNull() : Not(IsNull())),
      events: event && ArrayContains([event]),
    });
    const where = both([{ ...filter, ...owner, ...tenantWhere(principal) }], searched(search, ['url', 'description']));
    return this.rows.findAndCount({ where, ...pageAndOrder(query) });
  }

  /** @throws GatewayError `not_found` for unknown endpoints and for those of other tenants */
  async get(principal: Principal, id: string): Promise<WebhookEndpoint> {
    return find(this.rows.manager, principal, id);
  }

  /**
   * The same in a transaction, for which the endpoint stays as it is.
   * @throws GatewayError `not_found`
   */
  async hold(manager: EntityManager, principal: Principal, id: string): Promise<WebhookEndpoint> {
    return find(manager, principal, id, 'pessimistic_read');
  }

  async create(
    principal: Principal,
    fields: DeepPartial<WebhookEndpoint>,
    named: readonly string[],
  ): Promise<WebhookEndpoint> {
    return this.rows.manager.transaction(async (manager) => {
      const row = await manager.save(manager.create(WebhookEndpoint, fields));
      await this.audit.record(manager, principal, entryOf('create', row, named, { after: shown(row) }));
      return row;
    });
  }

  /** The endpoint is locked between the read that `change` receives and the write of what it returns. */
  async change(
    principal: Principal,
    id: string,
    verb: 'update' | 'rotate_secret',
    named: readonly string[],
    change: (row: WebhookEndpoint) => Partial<WebhookEndpoint>,
  ): Promise<WebhookEndpoint> {
    return this.rows.manager.transaction(async (manager) => {
      const row = await find(manager, principal, id, FOR_CHANGE);
      const saved = await updateRow(manager, row, change(row));
      if (row.disabledAt === null && saved.disabledAt !== null)
        await this.raiseDisabled(manager, saved, saved.disabledAt);
      const snapshots = { before: shown(row), after: shown(saved) };
      if (saved !== row) await this.audit.record(manager, principal, entryOf(verb, saved, named, snapshots));
      return saved;
    });
  }

  /** Takes its deliveries with it. */
  async delete(principal: Principal, id: string): Promise<void> {
    await this.rows.manager.transaction(async (manager) => {
      const row = await find(manager, principal, id, FOR_CHANGE);
      await manager.delete(WebhookEndpoint, { id: row.id, organisationId: row.organisationId });
      await this.audit.record(manager, principal, entryOf('delete', row, [], { before: shown(row) }));
    });
  }

  /** The receiver at `url` wants nothing any more. false: the endpoint has another address by now, and stays as it is. */
  async disableGone(
    endpoint: Pick<WebhookEndpoint, 'id' | 'organisationId' | 'workspaceId' | 'url'>,
    now: Date,
  ): Promise<boolean> {
    const { id, organisationId, url } = endpoint;
    const gateway = { kind: 'gateway', id: 'webhooks', organisationId } as const;
    return this.rows.manager.transaction(async (manager) => {
      const { affected } = await manager.update(
        WebhookEndpoint,
        { id, organisationId, url, disabledAt: IsNull() },
        { disabledAt: now, disabledReason: 'gone' },
      );
      if (affected !== 1) return manager.existsBy(WebhookEndpoint, { id, organisationId, url });
      await this.audit.record(manager, gateway, entryOf('disable', endpoint, ['enabled']));
      await this.raiseDisabled(manager, { ...endpoint, disabledReason: 'gone' }, now);
      return true;
    });
  }

  /** For the other endpoints: this one gets nothing any more. Their receivers must not learn where to send in its name. */
  private async raiseDisabled(
    manager: EntityManager,
    endpoint: Pick<WebhookEndpoint, 'id' | 'organisationId' | 'workspaceId' | 'url' | 'disabledReason'>,
    at: Date,
  ): Promise<void> {
    const { id, organisationId, workspaceId, url, disabledReason: reason } = endpoint;
    const payload = { webhook_endpoint_id: id, url: originOf(url) ?? '', reason };
    const key = `${id}:${at.getTime()}`;
    await this.events.raise({ organisationId, workspaceId, type: 'webhook.disabled', key, payload }, manager);
  }
}

/** For the audit log. A secret that is sealed again is another one. */
function shown(row: WebhookEndpoint): object {
  const secrets = { url: addressMark(row.url), secret: secretMark(row.sealedSecret) };
  return Object.assign(toWebhookEndpointResponse(row), secrets);
}

/** A lock needs a transaction. With FOR_CHANGE the row comes with its sealed secrets. */
async function find(
  manager: EntityManager,
  principal: Principal,
  id: string,
  lock?: 'pessimistic_read' | typeof FOR_CHANGE,
): Promise<WebhookEndpoint> {
  if (!isUuid(id)) throw new GatewayError('not_found');
  const query = manager.createQueryBuilder(WebhookEndpoint, 'endpoint').where({ id, ...tenantWhere(principal) });
  if (lock !== undefined) query.setLock(lock);
  if (lock === FOR_CHANGE) query.addSelect(['endpoint.sealedSecret', 'endpoint.sealedPreviousSecret']);
  const row = await query.getOne();
  if (row === null) throw new GatewayError('not_found');
  return row;
}
