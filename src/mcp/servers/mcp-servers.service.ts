import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Principal } from '../../access/principal.js';
import { addressMark, secretMark } from '../../audit/audit-changes.js';
import { slugSource } from '../../common/slug.js';
import { type ListOf, toList } from '../../common/pagination/list.js';
import { BodyRules } from '../../common/validation/body-rules.js';
import { assertFixedFields } from '../../common/validation/fixed-fields.decorator.js';
import { withoutUndefined } from '../../common/without-undefined.js';
import { withFreeSlug } from '../../database/rows.js';
import { assertMayMap, namedTargets } from '../../secret-references/mapped-resource/mapped-targets.js';
import { WorkspacesService } from '../../workspaces/workspaces.service.js';
import { McpLastCalls } from '../calls/mcp-last-calls.js';
import { originProblems, problemsOfSecretsAndIdentity, urlProblems } from './check-mcp-server.js';
import { CreateMcpServerDto, type UpdateMcpServerDto } from './dto/mcp-server.dto.js';
import type { McpServerListQuery } from './dto/mcp-server-list.query.js';
import { McpServerDefinitions } from './mcp-server.definitions.js';
import { McpServerDirectory } from './mcp-server.directory.js';
import { refuseTakenAudience } from './mcp-server.audience.js';
import { McpServer } from './mcp-server.entity.js';
import type { McpServerResponse } from './mcp-server.response.js';
import { newSettings } from './mcp-server.settings.js';
import { McpServerToolStore } from './mcp-server-tool.store.js';
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
    private readonly directory: McpServerDirectory,
    private readonly tools: McpServerToolStore,
    private readonly lastCalls: McpLastCalls,
    rules: BodyRules,
  ) {
    rules.add(CreateMcpServerDto, ['url'], ({ url }) => urlProblems(url, definitions.rules.egress));
    rules.add(CreateMcpServerDto, ['allowed_origins'], (dto) => originProblems(dto.allowed_origins ?? []));
    rules.add(CreateMcpServerDto, ['headers', 'jwt_validation', 'secret_mappings'], (dto) => {
      definitions.readTargets(dto);
    });
    rules.add(CreateMcpServerDto, SECRETS_AND_IDENTITY, (dto) =>
      problemsOfSecretsAndIdentity(newSettings(dto, namedTargets(dto.secret_mappings ?? [])), definitions.rules),
    );
  }

  /** The form of a server in the audit log. */
  private readonly show = (row: McpServer): object =>
    Object.assign(this.definitions.toResponse(row, secretMark), { url: addressMark(row.url) });

  async create(principal: Principal, dto: CreateMcpServerDto): Promise<McpServer> {
    assertMayMap(principal, dto);
    const workspaceId = await this.workspaces.resolveOrShared(principal, dto.workspace_id);
    const { organisationId } = principal;
    const { name, description = null, pin = false } = dto;
    const id = randomUUID();
    const columns = this.definitions.columnsOfNew({ id, organisationId }, dto);
    const saved = await withFreeSlug(dto.slug, slugSource(name, 'mcp'), (slug) =>
      this.store.manager.transaction((manager) => {
        const fields = { id, organisationId, workspaceId, slug, name, description, pin, ...columns };
        return this.store.insert(manager, principal, manager.create(McpServer, fields), dto, this.show);
      }),
    ).catch(refuseTakenAudience);
    this.directory.clear();
    return saved;
  }

  async list(principal: Principal, query: McpServerListQuery): Promise<ListOf<McpServerResponse>> {
    const { status, transport, workspace_id: workspace } = query;
    const enabled = status === undefined ? undefined : status === 'enabled';
    const filter = {
      ...withoutUndefined({ enabled, transport }),
      ...(await this.workspaces.filterBy(principal, workspace)),
    };
    const page = await this.store.list(principal, query, filter);
    return toList(page, await this.shownTo(principal, page[0]));
  }

  async get(principal: Principal, ref: string): Promise<McpServerResponse> {
    return this.shownOne(principal, await this.store.get(principal, ref));
  }

  async update(principal: Principal, ref: string, dto: UpdateMcpServerDto): Promise<McpServerResponse> {
    assertMayMap(principal, dto);
    const { name, description, pin } = dto;
    let wasPinned = true;
    const fixed = await this.workspaces.fixedFieldsOf(principal, dto);
    const changesOf = (row: McpServer): Partial<McpServer> => {
      assertFixedFields(fixed, this.definitions.toResponse(row));
      wasPinned = row.pin;
      return { ...withoutUndefined({ name, description, pin }), ...this.definitions.changedColumns(row, dto) };
    };
    const saved = await this.store.change(principal, ref, dto, changesOf, this.show).catch(refuseTakenAudience);
    // Pinning a server accepts the tools that are known at that time.
    if (saved.pin && !wasPinned) await this.tools.acceptAll(saved.id);
    this.directory.clear();
    return this.shownOne(principal, saved);
  }

  async delete(principal: Principal, ref: string): Promise<void> {
    await this.store.delete(principal, ref, this.show);
    this.directory.clear();
  }

  /** The responses to a caller, with the last calls of these rows. */
  private async shownTo(
    principal: Principal,
    rows: readonly McpServer[],
  ): Promise<(row: McpServer) => McpServerResponse> {
    const ids = rows.map(({ id }) => id);
    const lastCalls = await this.lastCalls.of(principal, ids);
    return (row) => ({ ...this.definitions.toResponse(row), last_call: lastCalls.get(row.id) ?? null });
  }

  private async shownOne(principal: Principal, row: McpServer): Promise<McpServerResponse> {
    const toResponse = await this.shownTo(principal, [row]);
    return toResponse(row);
  }
}
