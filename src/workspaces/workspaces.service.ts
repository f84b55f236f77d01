import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { And, type EntityManager, Equal, type FindOptionsWhere, In, type Repository } from 'typeorm';
import type { BodyLogging, Principal, Tenant } from '../access/principal.js';
import { refWhere } from '../access/tenant-where.js';
import { type AuditedResource, auditRecords, namedFields } from '../audit/audit-record.js';
import { AuditService } from '../audit/audit.service.js';
import { GatewayError, invalidField } from '../common/errors/gateway.error.js';
import type { JsonObject } from '../common/json/read.js';
import { slugSource } from '../common/slug.js';
import type { ListQuery } from '../common/pagination/list.query.js';
import { assertFixedFields, fixedFieldsOf } from '../common/validation/fixed-fields.decorator.js';
import { foldId, isUuid } from '../common/uuid.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { amongIds, both, pageAndOrder, searched } from '../database/list-options.js';
import { withFreeSlug, insertRow, updateRow } from '../database/rows.js';
import { bodyLoggingOf } from './body-logging.js';
import type { WorkspaceListQuery } from './dto/workspace-list.query.js';
import type { CreateWorkspaceDto, UpdateWorkspaceDto } from './dto/workspace.dto.js';
import { AppConfig } from '../config/environment.js';
import { findWorkspaceIds } from './find-workspace-ids.js';
import { Organisation } from './organisation.entity.js';
import { unknownWorkspace, workspaceInUse } from './workspace.errors.js';
import { Workspace } from './workspace.entity.js';
import { toWorkspaceResponse } from './workspace.response.js';

const entryOf = auditRecords<'create' | 'update' | 'delete'>('workspaces', 'workspace');
const FOR_CHANGE = { mode: 'pessimistic_write' } as const;

/** What a workspace says of the calls in it. */
export interface CallSettings {
  /** Metadata for requests that bring none of that name. */
  readonly defaultMetadata: Readonly<Record<string, string>>;
  /** undefined: no bodies are kept. */
  readonly logBodies: BodyLogging | undefined;
}

const NO_SETTINGS: CallSettings = { defaultMetadata: {}, logBodies: undefined };

@Injectable()
export class WorkspacesService {
  constructor(
    @InjectRepository(Workspace) private readonly workspaces: Repository<Workspace>,
    private readonly audit: AuditService,
    private readonly config: AppConfig,
  ) {}

  async create(principal: Principal, dto: CreateWorkspaceDto): Promise<Workspace> {
    assertOrganisationLevel(principal);
    const { name, slug: wanted, description = null, defaults = {} } = dto;
    const logBodies = bodyLoggingOf(dto, this.config) ?? null;
    return withFreeSlug(wanted, slugSource(name, 'workspace'), (slug) =>
      this.workspaces.manager.transaction(async (manager) => {
        const workspace = await insertRow(
          manager,
          manager.create(Workspace, {
            organisationId: principal.organisationId,
            name,
            slug,
            description,
            defaults,
            logBodies,
          }),
        );
        await this.audit.record(
          manager,
          principal,
          entryOf('create', inItself(workspace), namedFields(dto), { after: toWorkspaceResponse(workspace) }),
        );
        return workspace;
      }),
    );
  }

  async list(principal: Principal, query: WorkspaceListQuery): Promise<[Workspace[], number]> {
    return this.workspaces.findAndCount({
      where: both([visibleWhere(principal, query.ids)], searched(query.search, ['name', 'slug', 'description'])),
      ...pageAndOrder(query),
    });
  }

  /** The filter of a list by workspace. @throws GatewayError `not_found` for a workspace that the caller cannot see */
  async filterBy(principal: Principal, ref: string | undefined): Promise<{ readonly workspaceId?: string }> {
    return ref === undefined ? {} : { workspaceId: (await this.get(principal, ref)).id };
  }

  /** The workspaces that a tenant consists of, by name. */
  async visibleTo({ organisationId, workspaceId }: Tenant, take: number): Promise<Workspace[]> {
    const where = workspaceId === null ? { organisationId } : { organisationId, id: workspaceId };
    return this.workspaces.find({ where, order: { name: 'ASC', id: 'ASC' }, take });
  }

  /** Those of the ids that exist. */
  async organisations(ids: readonly string[], query: ListQuery): Promise<[Organisation[], number]> {
    return this.workspaces.manager.findAndCount(Organisation, {
      where: both([{ id: In(ids.filter(isUuid)) }], searched(query.search, ['name', 'slug'])),
      ...pageAndOrder(query),
    });
  }

  /** @throws GatewayError `not_found` for unknown workspaces and for those that the caller cannot see */
  async get(principal: Principal, ref: string): Promise<Workspace> {
    return find(this.workspaces.manager, principal, ref);
  }

  /** Gives the id for each of the names, ids or slugs, undefined for one that the tenant cannot see; all are read at once. */
  async idsOf(tenant: Tenant, refs: readonly string[]): Promise<(ref: string) => string | undefined> {
    return findWorkspaceIds(this.workspaces.manager, tenant, refs);
  }

  /** The fixed fields of an update, with the id of the workspace: a create may have named it by its slug. */
  async fixedFieldsOf(principal: Principal, dto: object): Promise<JsonObject> {
    const given = fixedFieldsOf(dto);
    const { workspace_id: ref } = given;
    if (typeof ref !== 'string') return given;
    return { ...given, workspace_id: (await this.idsOf(principal, [ref]))(ref) ?? foldId(ref) };
  }

  /**
   * The workspace that a new resource goes into. Callers of one workspace have no choice.
   * @param ref id or slug, as the body names it
   * @throws GatewayError `tenant_mismatch` for a workspace that is not the caller's own
   */
  async resolveForCreate(principal: Principal, ref: string | null | undefined): Promise<string> {
    if (ref === undefined || ref === null) {
      if (principal.workspaceId !== null) return principal.workspaceId;
      throw invalidField('workspace_id', 'is required when the caller acts for the whole organisation');
    }
    const found = await this.workspaces.findOneBy({ ...refWhere(ref), organisationId: principal.organisationId });
    if (found !== null && isVisible(principal, found)) return found.id;
    throw unknownWorkspace();
  }

  /**
   * The same for a resource that may be for all workspaces, which is null: so it is when a caller of the whole organisation
   * names none.
   */
  async resolveOrShared(principal: Principal, ref: string | null | undefined): Promise<string | null> {
    return principal.workspaceId === null && (ref ?? null) === null ? null : this.resolveForCreate(principal, ref);
  }

  /** The slugs of a tenant; without a workspace for a whole organisation. */
  async slugsOf({ organisationId, workspaceId }: Tenant): Promise<{ organisation?: string; workspace?: string }> {
    const organisation = await this.workspaces.manager.findOneBy(Organisation, { id: organisationId });
    if (workspaceId === null) return { organisation: organisation?.slug };
    const workspace = await this.workspaces.findOneBy({ id: workspaceId, organisationId });
    return { organisation: organisation?.slug, workspace: workspace?.slug ?? '' };
  }

  /** What the slugs of an organisation, and of one of its workspaces, stand for; undefined for unknown ones. */
  async tenantOf(organisationSlug: string, workspaceSlug: string | null): Promise<Tenant | undefined> {
    const organisation = await this.workspaces.manager.findOneBy(Organisation, { slug: organisationSlug });
    if (organisation === null) return undefined;
    const { id: organisationId } = organisation;
    if (workspaceSlug === null) return { organisationId, workspaceId: null };
    const workspace = await this.workspaces.findOneBy({ organisationId, slug: workspaceSlug });
    return workspace === null ? undefined : { organisationId, workspaceId: workspace.id };
  }

  async organisationExists(id: string): Promise<boolean> {
    return this.workspaces.manager.existsBy(Organisation, { id });
  }

  async callSettings(organisationId: string, workspaceId: string | null): Promise<CallSettings> {
    if (workspaceId === null) return NO_SETTINGS;
    const workspace = await this.workspaces.findOneBy({ id: workspaceId, organisationId });
    if (workspace === null) return NO_SETTINGS;
    const { defaults, logBodies } = workspace;
    // The operator may have taken the store away since.
    const isKept = logBodies !== null && this.config.REQUEST_LOG_BODIES !== undefined;
    return { defaultMetadata: defaults.metadata ?? {}, logBodies: isKept ? logBodies : undefined };
  }

  /** The settings that a caller gets from the workspace of a resource: a caller without a workspace acts in that one. Others get none. */
  async settingsFor(caller: Tenant | undefined, { organisationId, workspaceId }: Tenant): Promise<CallSettings> {
    return (caller?.workspaceId ?? null) === null ? this.callSettings(organisationId, workspaceId) : NO_SETTINGS;
  }

  async update(principal: Principal, ref: string, dto: UpdateWorkspaceDto): Promise<Workspace> {
    const { name, description, defaults } = dto;
    return this.workspaces.manager.transaction(async (manager) => {
      const workspace = await find(manager, principal, ref, FOR_CHANGE);
      assertFixedFields(fixedFieldsOf(dto), toWorkspaceResponse(workspace));
      const logBodies = bodyLoggingOf(dto, this.config, workspace.logBodies);
      const changes = withoutUndefined({ name, description, defaults, logBodies });
      const saved = await updateRow(manager, workspace, changes);
      if (saved !== workspace) {
        const snapshots = { before: toWorkspaceResponse(workspace), after: toWorkspaceResponse(saved) };
        await this.audit.record(manager, principal, entryOf('update', inItself(saved), namedFields(dto), snapshots));
      }
      return saved;
    });
  }

  /** @throws GatewayError `conflict` while keys, webhooks, MCP servers, model routes or active policies belong to the workspace */
  async delete(principal: Principal, ref: string): Promise<void> {
    assertOrganisationLevel(principal);
    try {
      await this.workspaces.manager.transaction(async (manager) => {
        const workspace = await find(manager, principal, ref, FOR_CHANGE);
        await manager.delete(Workspace, { id: workspace.id, organisationId: principal.organisationId });
        await this.audit.record(
          manager,
          principal,
          entryOf('delete', inItself(workspace), [], { before: toWorkspaceResponse(workspace) }),
        );
      });
    } catch (error) {
      throw workspaceInUse(error) ?? error;
    }
  }
}

/** With FOR_CHANGE, which needs a transaction, the workspace is locked until the transaction ends. */
async function find(
  manager: EntityManager,
  principal: Principal,
  ref: string,
  lock?: typeof FOR_CHANGE,
): Promise<Workspace> {
  const where = { ...refWhere(ref), organisationId: principal.organisationId };
  const found = await manager.findOne(Workspace, { where, lock });
  if (found === null || !isVisible(principal, found)) throw new GatewayError('not_found');
  return found;
}

function assertOrganisationLevel(principal: Principal): void {
  if (principal.workspaceId === null) return;
  throw new GatewayError('permission_denied', {
    message: 'Only callers of the whole organisation create and delete workspaces.',
  });
}

function isVisible(principal: Principal, workspace: Workspace): boolean {
  return principal.workspaceId === null || principal.workspaceId === workspace.id;
}

function visibleWhere({ organisationId, workspaceId }: Principal, ids?: string): FindOptionsWhere<Workspace> {
  const own = workspaceId === null ? undefined : Equal(workspaceId);
  const conditions = [own, amongIds(ids)].filter((condition) => condition !== undefined);
  return { organisationId, ...(conditions.length > 0 && { id: And(...conditions) }) };
}

/** As the audit log sees a workspace: a resource of itself. */
function inItself({ id, name }: Workspace): AuditedResource {
  return { id, workspaceId: id, name };
}
