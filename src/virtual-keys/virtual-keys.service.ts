import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { secretMark } from '../audit/audit-changes.js';
import type { Actor } from '../audit/audit.service.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { toList, type ListOf } from '../common/pagination/list.js';
import { assertInFuture } from '../common/time/expiry.js';
import { Clock } from '../common/time/clock.js';
import { fromUnixSeconds } from '../common/time/unix-time.js';
import { BodyRules } from '../common/validation/body-rules.js';
import { assertFixedFields } from '../common/validation/fixed-fields.decorator.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { isForeignKeyViolation } from '../database/database-errors.js';
import { expiryFilter } from '../database/list-options.js';
import { withFreeSlug } from '../database/rows.js';
import { assertMayMap, namedTargets } from '../secret-references/mapped-resource/mapped-targets.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { CreateVirtualKeyDto, type UpdateVirtualKeyDto } from './dto/virtual-key.dto.js';
import type { VirtualKeyListQuery } from './dto/virtual-key-list.query.js';
import { VirtualKeyCache } from './virtual-key.cache.js';
import { VirtualKeyCredentials } from './virtual-key.credentials.js';
import { VirtualKey } from './virtual-key.entity.js';
import type { VirtualKeyResponse } from './virtual-key.response.js';
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
    private readonly cache: VirtualKeyCache,
    rules: BodyRules,
    private readonly clock: Clock,
  ) {
    rules.add(CreateVirtualKeyDto, CREDENTIAL, (dto) => {
      credentials.readTargets(dto, dto);
    });
    rules.add(CreateVirtualKeyDto, CREDENTIAL, (dto) => {
      credentials.check(dto, dto, namedTargets(dto.secret_mappings ?? []));
    });
    rules.add(CreateVirtualKeyDto, ['expires_at'], (dto) => assertInFuture(dto, clock.now()));
  }

  /** For the audit log. */
  private readonly show = (row: VirtualKey): object => this.credentials.toResponse(row, secretMark);

  async create(principal: Principal, dto: CreateVirtualKeyDto): Promise<VirtualKey> {
    assertMayMap(principal, dto);
    const workspaceId = await this.workspaces.resolveOrShared(principal, dto.workspace_id);
    const saved = await withFreeSlug(dto.slug, dto.name, (slug) =>
      this.store.manager.transaction((manager) => this.insert(manager, principal, { workspaceId, slug }, dto)),
    );
    // The cache may know that there was none.
    this.cache.clear();
    return saved;
  }

  /**
   * Writes a new key in the caller's transaction. Also for the gateway's first start, which has no caller and no request body
   * that was checked.
   */
  async insert(manager: EntityManager, actor: Actor, place: Place, fields: NewVirtualKey): Promise<VirtualKey> {
    const { name, provider, description = null } = fields;
    const row = { id: randomUUID(), organisationId: actor.organisationId, provider };
    const sealed = this.credentials.seal(row, fields);
    const expiresAt = fromUnixSeconds(fields.expires_at) ?? null;
    const columns = { ...row, ...place, name, description, expiresAt, ...sealed };
    return this.store.insert(manager, actor, manager.create(VirtualKey, columns), fields, this.show);
  }

  async list(principal: Principal, query: VirtualKeyListQuery): Promise<ListOf<VirtualKeyResponse>> {
    const { provider, workspace_id: workspace } = query;
    const expiresAt = expiryFilter(query, this.clock.now());
    const filter = {
      ...withoutUndefined({ provider, expiresAt }),
      ...(await this.workspaces.filterBy(principal, workspace)),
    };
    return toList(await this.store.list(principal, query, filter), (row) => this.credentials.toResponse(row));
  }

  async get(principal: Principal, ref: string): Promise<VirtualKeyResponse> {
    return this.credentials.toResponse(await this.store.get(principal, ref));
  }

  async update(principal: Principal, ref: string, dto: UpdateVirtualKeyDto): Promise<VirtualKeyResponse> {
    assertMayMap(principal, dto);
    const { name, description } = dto;
    const fixed = await this.workspaces.fixedFieldsOf(principal, dto);
    const saved = await this.store.change(
      principal,
      ref,
      dto,
      (row) => {
        assertFixedFields(fixed, this.credentials.toResponse(row));
        const sealed = this.credentials.reseal(row, dto);
        return withoutUndefined({ name, description, expiresAt: fromUnixSeconds(dto.expires_at), ...sealed });
      },
      this.show,
    );
    this.cache.clear();
    return this.credentials.toResponse(saved);
  }

  async delete(principal: Principal, ref: string): Promise<void> {
    await this.store.delete(principal, ref, this.show).catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? inUse(error) : error;
    });
    this.cache.clear();
  }
}

function inUse(cause: unknown): GatewayError {
  const message = 'The virtual key is the default_virtual_key of an API key; change that first.';
  return new GatewayError('conflict', { message, cause });
}
