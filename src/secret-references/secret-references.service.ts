import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { secretMark } from '../audit/audit-changes.js';
import { AuditService } from '../audit/audit.service.js';
import { namedFields } from '../audit/audit-record.js';
import { invalidField, GatewayError } from '../common/errors/gateway.error.js';
import type { JsonObject } from '../common/json/read.js';
import { BodyRules } from '../common/validation/body-rules.js';
import { assertFixedFields, fixedFieldsOf } from '../common/validation/fixed-fields.decorator.js';
import { type ListOf, toList } from '../common/pagination/list.js';
import { isForeignKeyViolation } from '../database/database-errors.js';
import { withFreeSlug, insertRow, updateRow } from '../database/rows.js';
import type { SecretAddress } from './auth-config/auth-scheme.types.js';
import { authScheme, readManagerName } from './auth-config/auth-schemes.js';
import { CreateSecretReferenceDto, type UpdateSecretReferenceDto } from './dto/secret-reference.dto.js';
import type { SecretReferenceListQuery } from './dto/secret-reference-list.query.js';
import { type Changes, changesOf } from './secret-reference.changes.js';
import { type ManagerColumns, type SealedColumns, SecretReferenceCredentials } from './secret-reference.credentials.js';
import { SecretReference } from './secret-reference.entity.js';
import { type SecretReferenceResponse, toSecretReferenceResponse } from './secret-reference.response.js';
import { SecretReferenceStore, entryOf } from './secret-reference.store.js';
import { SecretResolver } from './secret-resolver.js';
import {
  accessOf,
  assertMayChange,
  mayUse,
  readAccess,
  type WorkspaceAccess,
  writeWorkspaces,
} from './workspace-access.js';
import type { SecretMapping } from './secret-mapping.entity.js';

/** Unless a body says otherwise. */
const EVERYBODY: WorkspaceAccess = { allowAll: true, workspaceIds: [] };

@Injectable()
export class SecretReferencesService {
  constructor(
    private readonly store: SecretReferenceStore,
    private readonly credentials: SecretReferenceCredentials,
    private readonly audit: AuditService,
    private readonly resolver: SecretResolver,
    rules: BodyRules,
  ) {
    rules.add(CreateSecretReferenceDto, ['manager_type', 'auth_config', 'secret_path', 'secret_version'], (dto) =>
      credentials.check(managerOf(dto), dto.auth_config, addressOf(dto.secret_path, dto.secret_version ?? null)),
    );
  }

  async create(principal: Principal, dto: CreateSecretReferenceDto): Promise<{ id: string; slug: string }> {
    const { name, secret_path: secretPath, secret_key: secretKey = null, description = null, tags = null } = dto;
    const { organisationId, id: createdBy } = principal;
    const row = { id: randomUUID(), organisationId, ...managerOf(dto) };
    const secretVersion = dto.secret_version ?? null;
    const { allowed_hosts: allowedHosts = null, allowed_providers: allowedProviders = null } = dto;
    const sealed = this.credentials.seal(row, dto.auth_config, addressOf(secretPath, secretVersion));
    const columns = { ...row, ...sealed, name, description, secretPath, secretKey, secretVersion, tags, createdBy };
    return withFreeSlug(dto.slug, name, (slug) =>
      this.store.rows.manager.transaction(async (manager) => {
        const access = await readAccess(manager, principal, dto, EVERYBODY);
        const isNew = { lastResolvedAt: null, lastError: null };
        const fields = {
          ...columns,
          ...isNew,
          slug,
          allowedHosts,
          allowedProviders,
          allowAllWorkspaces: access.allowAll,
        };
        const created = await insertRow(manager, manager.create(SecretReference, fields));
        await writeWorkspaces(manager, row.id, access.workspaceIds);
        const after = this.shown(created, access);
        await this.audit.record(manager, principal, entryOf('create', created, access, namedFields(dto), { after }));
        return { id: row.id, slug };
      }),
    );
  }

  async list(principal: Principal, query: SecretReferenceListQuery): Promise<ListOf<SecretReferenceResponse>> {
    return toList(await this.store.list(principal, query), (row) => this.toResponse(principal, row));
  }

  async get(principal: Principal, ref: string): Promise<SecretReferenceResponse> {
    return this.toResponse(principal, await this.store.get(principal, ref));
  }

  async update(principal: Principal, ref: string, dto: UpdateSecretReferenceDto): Promise<SecretReferenceResponse> {
    const { id, isFetchedAnew } = await this.store.rows.manager.transaction(async (manager) => {
      const row = await this.store.getForChange(manager, principal, ref);
      assertMayChange(principal, row);
      assertFixedFields(fixedIn(dto, row), this.toResponse(principal, row));
      const access = await readAccess(manager, principal, dto, accessOf(row));
      const changes = changesOf(row, dto, this.resealed(row, dto), access);
      if (changes.fields.length > 0) await this.write(manager, principal, row, changes);
      return { id: row.id, isFetchedAnew: changes.columns.revision !== row.revision };
    });
    // Not after every change: while the manager is down, a new description would take the last value away.
    if (isFetchedAnew) this.resolver.forget(id);
    return this.get(principal, id);
  }

  /** @throws GatewayError `conflict` while virtual keys or MCP servers use it */
  async delete(principal: Principal, ref: string): Promise<void> {
    try {
      const { id } = await this.store.rows.manager.transaction((manager) => this.remove(manager, principal, ref));
      this.resolver.forget(id);
    } catch (error) {
      throw isForeignKeyViolation(error) ? inUse([], error) : error;
    }
  }

  private async write(
    manager: EntityManager,
    principal: Principal,
    row: SecretReference,
    changes: Changes,
  ): Promise<void> {
    const { fields, columns, access } = changes;
    // Without its workspaces, which are written by themselves.
    const changed = await updateRow(manager, row, columns);
    if (!isDeepStrictEqual(access, accessOf(row))) {
      const users = await this.store.mappingsOf(row, manager);
      const leftOut = users.filter(({ ownerWorkspaceId }) => !mayUse(access, ownerWorkspaceId));
      if (leftOut.length > 0) throw inUse(leftOut);
      await writeWorkspaces(manager, row.id, access.workspaceIds);
    }
    const snapshots = { before: this.shown(row, accessOf(row)), after: this.shown(changed, access) };
    await this.audit.record(manager, principal, entryOf('update', changed, access, fields, snapshots));
  }

  private async remove(manager: EntityManager, principal: Principal, ref: string): Promise<SecretReference> {
    const row = await this.store.getForChange(manager, principal, ref);
    assertMayChange(principal, row);
    const users = await this.store.mappingsOf(row, manager);
    if (users.length > 0) throw inUse(users);
    await manager.delete(SecretReference, { id: row.id, organisationId: row.organisationId });
    const before = this.shown(row, accessOf(row));
    await this.audit.record(manager, principal, entryOf('delete', row, accessOf(row), [], { before }));
    return row;
  }

  /** The path and the version have rules that depend on `auth_config`. */
  private resealed(row: SecretReference, dto: UpdateSecretReferenceDto): SealedColumns | undefined {
    const { auth_config: given, secret_path: path, secret_version: version } = dto;
    if (given === undefined && path === undefined && version === undefined) return undefined;
    const address = addressOf(path ?? row.secretPath, version === undefined ? row.secretVersion : version);
    return this.credentials.reseal(row, given ?? {}, address);
  }

  /** For the audit log, with the names of secrets as a request has them. */
  private shown(row: SecretReference, { workspaceIds }: WorkspaceAccess): object {
    const config = Object.entries(this.credentials.toMasked(row, secretMark));
    const named = Object.fromEntries(config.map(([name, value]) => [name.replace(/^masked_/, ''), value]));
    return toSecretReferenceResponse(row, named, workspaceIds);
  }

  private toResponse(principal: Principal, row: SecretReference): SecretReferenceResponse {
    const { workspaceId } = principal;
    const workspaceIds = accessOf(row).workspaceIds.filter((id) => workspaceId === null || id === workspaceId);
    return toSecretReferenceResponse(row, this.credentials.toMasked(row), workspaceIds);
  }
}

/** @throws GatewayError `validation_failed` */
function managerOf({ manager_type }: Pick<CreateSecretReferenceDto, 'manager_type'>): ManagerColumns {
  const named = readManagerName(manager_type);
  if (named === undefined) throw invalidField('manager_type', 'must name a secret manager');
  return { managerType: named.type, spelling: named.spelling };
}

/** The fixed fields of an update; either name of the same manager stands for it. */
function fixedIn(dto: UpdateSecretReferenceDto, { managerType, spelling }: SecretReference): JsonObject {
  const given = fixedFieldsOf(dto);
  const { manager_type: name } = given;
  const isSame = typeof name === 'string' && readManagerName(name)?.type === managerType;
  return isSame ? { ...given, manager_type: authScheme(managerType).names[spelling].managerType } : given;
}

function addressOf(path: string, version: string | null): SecretAddress {
  return { path, version: version ?? undefined };
}

const MAX_NAMED = 10;

/** A change that would take a reference away from what uses it. */
export function inUse(mappings: readonly SecretMapping[], cause?: unknown): GatewayError {
  // The same slug may be in several workspaces, and one owner may use a reference for several fields.
  const owners = new Map(mappings.map((mapping) => [`${mapping.ownerType} ${mapping.ownerId}`, mapping]));
  const names = [...owners.values()].map(({ ownerType, ownerSlug }) => `${ownerType} ${ownerSlug}`);
  const more = names.length > MAX_NAMED ? ` and others, ${names.length} in all` : '';
  const users = names.length === 0 ? '' : ` by ${names.slice(0, MAX_NAMED).join(', ')}${more}`;
  return new GatewayError('conflict', { message: `The secret reference is in use${users}.`, cause });
}
