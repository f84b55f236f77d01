import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { type Actor, AuditService } from '../audit/audit.service.js';
import { namedFields } from '../audit/named-fields.js';
import { toList, type ListOf } from '../common/pagination/list.js';
import type { PageQuery } from '../common/pagination/page.query.js';
import { assertInFuture } from '../common/time/assert-in-future.js';
import { Clock } from '../common/time/clock.js';
import { fromUnixSeconds } from '../common/time/unix-time.js';
import { BodyRules } from '../common/validation/body-rules.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { withFreeSlug } from '../database/with-free-slug.js';
import { assertMayMap } from '../secret-references/assert-may-map.js';
import type { SecretMappingDto } from '../secret-references/dto/secret-mapping.dto.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { entryOf } from './audit-entry.js';
import { CreateVirtualKeyDto, type UpdateVirtualKeyDto } from './dto/virtual-key.dto.js';
import { type InlineFields, keepTargets, readTargets } from './mapped-fields.js';
import { mergeOptions } from './provider-options.js';
import { VirtualKey } from './virtual-key.entity.js';
import type { VirtualKeyResponse } from './virtual-key.response.js';
import { VirtualKeyCache } from './virtual-key.cache.js';
import { assertMappedForHost, type SealedColumns, VirtualKeyCredentials } from './virtual-key.credentials.js';
import { VirtualKeyStore } from './virtual-key.store.js';

type NewVirtualKey = Pick<
  CreateVirtualKeyDto,
  'name' | 'provider' | 'description' | 'key' | 'config' | 'secret_mappings' | 'expires_at'
>;
type Place = Pick<VirtualKey, 'workspaceId' | 'slug'>;

const CREDENTIAL = ['provider', 'key', 'config', 'secret_mappings'] as const;

@Injectable()
export class VirtualKeysService {
  constructor(
    private readonly store: VirtualKeyStore,
    private readonly credentials: VirtualKeyCredentials,
    private readonly workspaces: WorkspacesService,
    private readonly audit: AuditService,
    private readonly cache: VirtualKeyCache,
    rules: BodyRules,
    clock: Clock,
  ) {
    rules.add(CreateVirtualKeyDto, CREDENTIAL, (dto) => {
      readTargets(credentials.providerOf(dto), dto.secret_mappings ?? [], this.givenFields(dto));
    });
    rules.add(CreateVirtualKeyDto, CREDENTIAL, (dto) => {
      const { key, config } = this.givenFields(dto);
      credentials.check(dto, config, key, new Set(dto.secret_mappings?.map((mapping) => mapping.target_field)));
    });
    rules.add(CreateVirtualKeyDto, ['expires_at'], (dto) => assertInFuture(dto, clock.now()));
  }

  async create(principal: Principal, dto: CreateVirtualKeyDto): Promise<VirtualKey> {
    assertMayMap(principal, dto);
    const workspaceId = await this.workspaces.resolveOrShared(principal, dto.workspace_id);
    const saved = await withFreeSlug(dto.slug, dto.name, (slug) =>
      this.store.manager.transaction((manager) => this.insert(manager, principal, { workspaceId, slug }, dto)),
    );
    // That there was none may be known.
    this.cache.clear();
    return saved;
  }

  /**
   * Writes a new key in the caller's transaction. Also for the gateway's first start, when there is no caller yet, nor a body that
   * was held against the rules.
   */
  async insert(manager: EntityManager, actor: Actor, place: Place, fields: NewVirtualKey): Promise<VirtualKey> {
    const { name, provider, description = null } = fields;
    const { organisationId } = actor;
    const mappings = fields.secret_mappings ?? [];
    const row = { id: randomUUID(), organisationId, provider };
    const given = this.givenFields(fields);
    const mapped = readTargets(this.credentials.providerOf(row), mappings, given);
    const sealed = this.credentials.seal(row, given.config, given.key, mapped);
    const expiresAt = fromUnixSeconds(fields.expires_at) ?? null;
    const saved = await this.store.insert(
      manager,
      manager.create(VirtualKey, { ...row, ...place, name, description, expiresAt, ...sealed }),
      mappings,
    );
    await this.audit.record(manager, actor, entryOf('create', saved, namedFields(fields)));
    return saved;
  }

  async list(principal: Principal, page: PageQuery): Promise<ListOf<VirtualKeyResponse>> {
    return toList(await this.store.list(principal, page), (row) => this.credentials.toResponse(row));
  }

  async get(principal: Principal, ref: string): Promise<VirtualKeyResponse> {
    return this.credentials.toResponse(await this.store.get(principal, ref));
  }

  async update(principal: Principal, ref: string, dto: UpdateVirtualKeyDto): Promise<VirtualKeyResponse> {
    assertMayMap(principal, dto);
    const { name, description } = dto;
    const saved = await this.store.manager.transaction(async (manager) => {
      const row = await this.store.getForChange(manager, principal, ref);
      const mappings = dto.secret_mappings === null ? [] : dto.secret_mappings;
      const sealed = this.resealed(row, dto, mappings);
      const changes = withoutUndefined({ name, description, expiresAt: fromUnixSeconds(dto.expires_at), ...sealed });
      const changed = await this.store.update(manager, row, changes, mappings);
      if (changed !== row) await this.audit.record(manager, principal, entryOf('update', changed, namedFields(dto)));
      return changed;
    });
    this.cache.clear();
    return this.credentials.toResponse(saved);
  }

  async delete(principal: Principal, ref: string): Promise<void> {
    await this.store.manager.transaction(async (manager) => {
      const row = await this.store.getForDelete(manager, principal, ref);
      await this.store.remove(manager, row);
      await this.audit.record(manager, principal, entryOf('delete', row, []));
    });
    this.cache.clear();
  }

  private givenFields({
    provider,
    key,
    config = {},
  }: Pick<NewVirtualKey, 'provider' | 'key' | 'config'>): InlineFields {
    return { key: key ?? undefined, config: mergeOptions(this.credentials.providerOf({ provider }), {}, config) };
  }

  private resealed(
    row: VirtualKey,
    { key, config }: UpdateVirtualKeyDto,
    mappings: readonly SecretMappingDto[] | undefined,
  ): Partial<SealedColumns> {
    if (key === undefined && config === undefined && mappings === undefined) return {};
    const given = { key: key ?? undefined, config: config ?? {} };
    const mapped =
      mappings === undefined
        ? keepTargets(row.secretMappings, given)
        : readTargets(this.credentials.providerOf(row), mappings, given);
    const sealed = this.credentials.reseal(row, { key, config }, mapped);
    if (mappings === undefined && sealed.options) assertMappedForHost(row.options, sealed.options, mapped);
    return sealed;
  }
}
