import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, type Repository } from 'typeorm';
import type { Principal, Tenant } from '../access/principal.js';
import { ownOrSharedWhere, tenantWhere } from '../access/tenant-where.js';
import { secretMark } from '../audit/audit-changes.js';
import { AuditService } from '../audit/audit.service.js';
import { namedFields } from '../audit/audit-record.js';
import { fieldError, type ErrorDetail, GatewayError, throwIfInvalid } from '../common/errors/gateway.error.js';
import { assertInFuture } from '../common/time/expiry.js';
import { Clock } from '../common/time/clock.js';
import { fromUnixSeconds } from '../common/time/unix-time.js';
import { isUuid } from '../common/uuid.js';
import { BodyRules } from '../common/validation/body-rules.js';
import { assertFixedFields } from '../common/validation/fixed-fields.decorator.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { pageAndOrder } from '../database/list-options.js';
import { updateRow } from '../database/rows.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { filtersOf } from './api-key.filters.js';
import { ApiKeyIssuer, entryOf, type IssuedKey } from './api-key-issuer.js';
import { ApiKey } from './api-key.entity.js';
import { toApiKeyResponse } from './api-key.response.js';
import { CreateApiKeyDto, type NewApiKeyDto, type RotateApiKeyDto, type UpdateApiKeyDto } from './dto/api-key.dto.js';
import { CreatePlacedApiKeyDto } from './dto/placed-api-key.dto.js';
import type { ApiKeyListQuery } from './dto/api-key-list.query.js';
import { assertGrantable, assertMayAssert, assertWithinBounds } from './key-grants.js';
import { assertAdminKeyRemains } from './last-admin-key.js';
import { PrincipalCache } from './principal.cache.js';
import { joinCounters, keepCounters, limitProblems } from './rate-limit-counters.js';
import { ProviderAccessReader } from './provider-access.reader.js';

const DEFAULT_TRANSITION_SECONDS = 1_800;
const FOR_CHANGE = { mode: 'pessimistic_write' } as const;

@Injectable()
export class ApiKeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly apiKeys: Repository<ApiKey>,
    private readonly issuer: ApiKeyIssuer,
    private readonly workspaces: WorkspacesService,
    private readonly audit: AuditService,
    private readonly cache: PrincipalCache,
    private readonly access: ProviderAccessReader,
    rules: BodyRules,
    private readonly clock: Clock,
  ) {
    rules.add(CreateApiKeyDto, ['type', 'user'], userProblems);
    rules.add(CreateApiKeyDto, ['level', 'workspace_id'], levelProblems);
    const creates: readonly (new () => NewApiKeyDto)[] = [CreateApiKeyDto, CreatePlacedApiKeyDto];
    for (const dto of creates) {
      rules.add(dto, ['expires_at'], ({ expires_at }) => assertInFuture({ expires_at }, clock.now()));
    }
  }

  async create(principal: Principal, dto: CreateApiKeyDto): Promise<IssuedKey> {
    assertGrantable(principal, dto.scopes);
    const { name, description = null, scopes, type = 'service', metadata = {}, user = null } = dto;
    const rateLimits = joinCounters(principal, dto.rate_limits ?? []);
    const mcpGrants = {
      allowedMcpServers: dto.allowed_mcp_servers ?? null,
      allowedMcpTools: dto.allowed_mcp_tools ?? null,
    };
    const expiresAt = fromUnixSeconds(dto.expires_at) ?? null;
    assertMayAssert(principal, user);
    const workspaceId = await this.workspaceOf(principal, dto);
    throwIfInvalid(limitProblems(rateLimits, { user, workspaceId }));
    const { organisationId } = principal;
    return this.apiKeys.manager.transaction(async (manager) => {
      const access = await this.access.read(manager, { organisationId, workspaceId }, dto);
      const bounds = { scopes, metadata, rateLimits, expiresAt, ...mcpGrants, ...access };
      assertWithinBounds(principal, bounds);
      const row = { organisationId, workspaceId, name, description, type, user, createdBy: principal.id };
      const issued = await this.issuer.issue(manager, { ...row, ...bounds });
      await this.audit.record(
        manager,
        principal,
        entryOf('create', issued.apiKey, namedFields(dto), {
          after: this.shown(issued.apiKey),
        }),
      );
      return issued;
    });
  }

  /** A create whose level and type are in the address. */
  async createPlaced(principal: Principal, place: Place, dto: CreatePlacedApiKeyDto): Promise<IssuedKey> {
    const { user_id: userId, defaults, 'sub-type': _type, ...fields } = dto;
    const { user = userId === undefined ? null : { user_id: userId } } = fields;
    const metadata = fields.metadata ?? defaults?.metadata;
    const placed = { ...fields, ...place, user, ...(metadata && { metadata }) };
    throwIfInvalid([...placeProblems(place, dto), ...userProblems(placed), ...levelProblems(placed)]);
    return this.create(principal, placed);
  }

  async list(principal: Principal, query: ApiKeyListQuery): Promise<[ApiKey[], number]> {
    const owner = { ...(await this.workspaces.filterBy(principal, query.workspace_id)), ...tenantWhere(principal) };
    return this.apiKeys.findAndCount({
      where: filtersOf(query, owner, this.clock.now()),
      ...pageAndOrder(query),
    });
  }

  /** @throws GatewayError `not_found` for unknown keys and for those of other tenants */
  async get(principal: Principal, id: string): Promise<ApiKey> {
    return find(this.apiKeys.manager, principal, id);
  }

  /** Metadata that a key enforces; undefined for unknown keys and for those of other tenants. */
  async enforcedMetadata(principal: Principal, id: string): Promise<ApiKey['metadata'] | undefined> {
    if (!isUuid(id)) return undefined;
    return (await this.apiKeys.findOneBy({ id, ...tenantWhere(principal) }))?.metadata;
  }

  /** Those of the ids whose keys make calls that count for the tenant: its own, and those of the whole organisation. */
  async callersAmong(tenant: Tenant, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const id = In(ids.filter(isUuid));
    const where = ownOrSharedWhere(tenant).map((owner) => ({ ...owner, id }));
    return new Set((await this.apiKeys.find({ select: { id: true }, where })).map((key) => key.id));
  }

  async update(principal: Principal, id: string, dto: UpdateApiKeyDto): Promise<ApiKey> {
    const { name, description, scopes, metadata, rate_limits: rateLimits } = dto;
    const given = withoutUndefined({
      name,
      description,
      scopes,
      metadata,
      allowedMcpServers: dto.allowed_mcp_servers,
      allowedMcpTools: dto.allowed_mcp_tools,
      expiresAt: fromUnixSeconds(dto.expires_at),
    });
    const fixed = await this.workspaces.fixedFieldsOf(principal, dto);
    const saved = await this.apiKeys.manager.transaction(async (manager) => {
      const apiKey = await find(manager, principal, id, FOR_CHANGE);
      assertFixedFields(fixed, toApiKeyResponse(apiKey, this.clock.now()));
      // A caller that changes a key could otherwise widen one that it could not have created.
      assertGrantable(principal, [...apiKey.scopes, ...(scopes ?? [])]);
      const limits = rateLimits && { rateLimits: keepCounters(apiKey.rateLimits, rateLimits) };
      throwIfInvalid(limitProblems(rateLimits ?? [], apiKey));
      const changes = { ...given, ...limits, ...(await this.access.readChanges(manager, apiKey, dto)) };
      const isOnlyRenamed = Object.keys(changes).every((field) => ['name', 'description'].includes(field));
      const changed = await updateRow(manager, apiKey, changes);
      // All of the key, not only what changes: a scope for a key without the caller's bounds would be handed on without them.
      if (!isOnlyRenamed) assertWithinBounds(principal, changed);
      if (changed !== apiKey) {
        await assertAdminKeyRemains(manager, apiKey, changed, this.clock.now());
        const snapshots = { before: this.shown(apiKey), after: this.shown(changed) };
        await this.audit.record(manager, principal, entryOf('update', changed, namedFields(dto), snapshots));
      }
      return changed;
    });
    this.cache.clear();
    return saved;
  }

  /** A new secret for the same key: id, scopes and everything that refers to it stay. */
  async rotate(
    principal: Principal,
    id: string,
    { transition_seconds: transitionSeconds = DEFAULT_TRANSITION_SECONDS }: RotateApiKeyDto,
  ): Promise<IssuedKey & { readonly previousValidUntil: Date }> {
    const rotated = await this.apiKeys.manager.transaction(async (manager) => {
      const apiKey = await find(manager, principal, id, FOR_CHANGE);
      // The new secret is shown to the caller, who would gain what the key may do.
      assertGrantable(principal, apiKey.scopes);
      assertMayAssert(principal, apiKey.user);
      assertWithinBounds(principal, apiKey);
      const issued = await this.issuer.rotate(manager, apiKey, transitionSeconds);
      const snapshots = { before: { key: secretMark(apiKey.prefix) }, after: { key: secretMark(issued.key) } };
      await this.audit.record(manager, principal, entryOf('rotate', apiKey, [], snapshots));
      return { apiKey, ...issued };
    });
    this.cache.clear();
    return rotated;
  }

  /** Revokes the key: at once on this replica, within the cache's time on the others. */
  async delete(principal: Principal, id: string): Promise<void> {
    await this.apiKeys.manager.transaction(async (manager) => {
      const apiKey = await find(manager, principal, id, FOR_CHANGE);
      await assertAdminKeyRemains(manager, apiKey, undefined, this.clock.now());
      await manager.delete(ApiKey, { id: apiKey.id, organisationId: principal.organisationId });
      await this.audit.record(manager, principal, entryOf('delete', apiKey, [], { before: this.shown(apiKey) }));
    });
    this.cache.clear();
  }

  /** For the audit log. Without `status`, which changes with time alone. */
  private shown(apiKey: ApiKey): object {
    const { status: _status, ...shown } = toApiKeyResponse(apiKey, apiKey.createdAt);
    return shown;
  }

  /** The workspace of a new key; null for a key of the whole organisation. */
  private async workspaceOf(principal: Principal, dto: CreateApiKeyDto): Promise<string | null> {
    if (dto.level !== 'organisation') return this.workspaces.resolveForCreate(principal, dto.workspace_id);
    if (principal.workspaceId !== null) {
      throw new GatewayError('permission_denied', {
        message: 'A workspace key cannot create organisation keys.',
        param: 'level',
      });
    }
    return null;
  }
}

/** Level and type of a new key. */
type Place = Required<Pick<CreateApiKeyDto, 'level' | 'type'>>;

/** A body may repeat the address. */
function placeProblems(place: Place, { level = place.level, type = place.type, ...dto }: CreatePlacedApiKeyDto) {
  const { 'sub-type': subType = place.type } = dto;
  const isTwice = dto.user_id !== undefined && Boolean(dto.user);
  const hasMetadataTwice = dto.metadata !== undefined && dto.defaults?.metadata !== undefined;
  return [
    ...(level === place.level ? [] : [fieldError('level', 'must be that of the address')]),
    ...(type === place.type || type === place.level ? [] : [fieldError('type', 'must be that of the address')]),
    ...(subType === place.type ? [] : [fieldError('sub-type', 'must be that of the address')]),
    ...(isTwice ? [fieldError('user_id', 'must not be given beside user')] : []),
    ...(hasMetadataTwice ? [fieldError('defaults.metadata', 'must not be given beside metadata')] : []),
  ];
}

function userProblems({ type, user }: Pick<CreateApiKeyDto, 'type' | 'user'>): readonly ErrorDetail[] {
  if ((type === 'user') === Boolean(user)) return [];
  return [fieldError('user', user ? 'is only for keys of type user' : 'is required for a key of type user')];
}

function levelProblems({
  level,
  workspace_id,
}: Pick<CreateApiKeyDto, 'level' | 'workspace_id'>): readonly ErrorDetail[] {
  if (level !== 'organisation' || !workspace_id) return [];
  return [fieldError('workspace_id', 'is not for keys of level organisation')];
}

/** With FOR_CHANGE, which needs a transaction, the key is locked until the transaction ends. */
async function find(
  manager: EntityManager,
  principal: Principal,
  id: string,
  lock?: typeof FOR_CHANGE,
): Promise<ApiKey> {
  const where = { id, ...tenantWhere(principal) };
  const found = isUuid(id) ? await manager.findOne(ApiKey, { where, lock }) : null;
  if (found === null) throw new GatewayError('not_found');
  return found;
}
