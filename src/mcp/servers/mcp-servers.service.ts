import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Principal } from '../../access/principal.js';
import { AuditService } from '../../audit/audit.service.js';
import { namedFields } from '../../audit/named-fields.js';
import { slugSource } from '../../common/http/reserved-segments.js';
import { type ListOf, toList } from '../../common/pagination/list.js';
import type { PageQuery } from '../../common/pagination/page.query.js';
import { BodyRules } from '../../common/validation/body-rules.js';
import { withoutUndefined } from '../../common/without-undefined.js';
import { withFreeSlug } from '../../database/with-free-slug.js';
import { assertMayMap } from '../../secret-references/assert-may-map.js';
import { WorkspacesService } from '../../workspaces/workspaces.service.js';
import { entryOf } from './audit-entry.js';
import { originProblems, problemsOfSecretsAndIdentity, urlProblems } from './check-mcp-server.js';
import { CreateMcpServerDto, type UpdateMcpServerDto } from './dto/mcp-server.dto.js';
import { keepTargets, namedTargets, readTargets } from './mapped-targets.js';
import { McpServerDefinitions } from './mcp-server.definitions.js';
import { McpServerDirectory } from './mcp-server.directory.js';
import { McpServer } from './mcp-server.entity.js';
import type { McpServerResponse } from './mcp-server.response.js';
import {
  assertMappedForHost,
  assertSecretsReplaced,
  changedSettings,
  isSameSettings,
  newSettings,
} from './mcp-server.settings.js';
import { McpServerStore } from './mcp-server.store.js';

const SECRETS_AND_IDENTITY = [
  'auth_type',
  'headers',
  'secret_mappings',
  'user_identity_forwarding',
  'jwt_validation',
  'forward_headers',
] as const;

@Injectable()
export class McpServersService {
  constructor(
    private readonly store: McpServerStore,
    private readonly definitions: McpServerDefinitions,
    private readonly workspaces: WorkspacesService,
    private readonly audit: AuditService,
    private readonly directory: McpServerDirectory,
    rules: BodyRules,
  ) {
    rules.add(CreateMcpServerDto, ['url'], ({ url }) => urlProblems(url, definitions.rules.egress));
    rules.add(CreateMcpServerDto, ['allowed_origins'], (dto) => originProblems(dto.allowed_origins ?? []));
    rules.add(CreateMcpServerDto, ['headers', 'jwt_validation', 'secret_mappings'], (dto) => {
      readTargets(dto.secret_mappings ?? [], dto);
    });
    rules.add(CreateMcpServerDto, SECRETS_AND_IDENTITY, (dto) =>
      problemsOfSecretsAndIdentity(newSettings(dto, namedTargets(dto.secret_mappings ?? [])), definitions.rules),
    );
  }

  async create(principal: Principal, dto: CreateMcpServerDto): Promise<McpServer> {
    assertMayMap(principal, dto);
    const workspaceId = await this.workspaces.resolveOrShared(principal, dto.workspace_id);
    const { organisationId } = principal;
    const { name, description = null } = dto;
    const id = randomUUID();
    const mappings = dto.secret_mappings ?? [];
    const columns = this.definitions.toColumns({ id, organisationId }, newSettings(dto, readTargets(mappings, dto)));
    const saved = await withFreeSlug(dto.slug, slugSource(name, 'mcp'), (slug) =>
      this.store.manager.transaction(async (manager) => {
        const fields = { id, organisationId, workspaceId, slug, name, description, ...columns };
        const row = await this.store.insert(manager, manager.create(McpServer, fields), mappings);
        await this.audit.record(manager, principal, entryOf('create', row, namedFields(dto)));
        return row;
      }),
    );
    this.directory.clear();
    return saved;
  }

  async list(principal: Principal, page: PageQuery): Promise<ListOf<McpServerResponse>> {
    return toList(await this.store.list(principal, page), (row) => this.definitions.toResponse(row));
  }

  async get(principal: Principal, ref: string): Promise<McpServerResponse> {
    return this.definitions.toResponse(await this.store.get(principal, ref));
  }

  async update(principal: Principal, ref: string, dto: UpdateMcpServerDto): Promise<McpServerResponse> {
    assertMayMap(principal, dto);
    const { name, description } = dto;
    const saved = await this.store.manager.transaction(async (manager) => {
      const row = await this.store.getForChange(manager, principal, ref);
      const mappings = dto.secret_mappings === null ? [] : dto.secret_mappings;
      const mapped = mappings === undefined ? keepTargets(row.secretMappings, dto) : readTargets(mappings, dto);
      const { value: before, failure } = this.definitions.openForChange(row);
      const after = changedSettings(before, dto, mapped);
      if (failure !== undefined) assertSecretsReplaced(failure, before, after, dto);
      if (mappings === undefined) assertMappedForHost(before, after);
      const isSame = failure === undefined && isSameSettings(before, after);
      const columns = isSame ? {} : this.definitions.toColumns(row, after, before);
      const changes = { ...withoutUndefined({ name, description }), ...columns };
      const changed = await this.store.update(manager, row, changes, mappings);
      if (changed !== row) await this.audit.record(manager, principal, entryOf('update', changed, namedFields(dto)));
      return changed;
    });
    this.directory.clear();
    return this.definitions.toResponse(saved);
  }

  async delete(principal: Principal, ref: string): Promise<void> {
    await this.store.manager.transaction(async (manager) => {
      const row = await this.store.getForDelete(manager, principal, ref);
      await this.store.remove(manager, row);
      await this.audit.record(manager, principal, entryOf('delete', row, []));
    });
    this.directory.clear();
  }
}
