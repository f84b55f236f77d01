import { Injectable } from '@nestjs/common';
import type { Principal } from '../access/principal.js';
import { OfferedEndpoints } from '../upstream/providers/offered-endpoints.js';
import { foldNames } from '../usage/call-names.js';
import { canonicalModel, modelAliases } from '../usage/model-names.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import type { SimulateUsageDto } from './dto/simulate-usage.dto.js';
import { NameableKeys } from './nameable-keys.js';
import type { PolicyAttributes } from './policy-keys.js';

export interface SimulatedCall {
  readonly facts: PolicyAttributes;
  /** Whether such a call is counted against usage limits. */
  readonly isMetered: boolean;
}

/** Reads what is said about a call that is simulated. */
@Injectable()
export class SimulatedCalls {
  constructor(
    private readonly workspaces: WorkspacesService,
    private readonly keys: NameableKeys,
    private readonly offered: OfferedEndpoints,
  ) {}

  /** @throws GatewayError `not_found` for a workspace or key that the caller cannot see */
  async read(principal: Principal, dto: SimulateUsageDto): Promise<SimulatedCall> {
    const facts = await this.factsOf(principal, dto);
    const providers = await this.keys.providersOf(principal, dto.virtual_key);
    return { facts, isMetered: this.isMetered(facts, providers) };
  }

  /** What the call leaves open may be anything. Calls of MCP tools are not metered. */
  private isMetered(facts: PolicyAttributes, providers: readonly string[] | undefined): boolean {
    if (facts.mcp_server !== undefined || facts.mcp_tool !== undefined) return false;
    return this.offered.metered.some(
      ({ endpoint, provider }) =>
        (facts.endpoint ?? endpoint) === endpoint &&
        (facts.provider ?? provider) === provider &&
        (providers?.includes(provider) ?? true),
    );
  }

  private async factsOf(principal: Principal, dto: SimulateUsageDto): Promise<PolicyAttributes> {
    const { workspace_id: ref, model } = dto;
    const { api_key, provider, endpoint } = foldNames(dto);
    const workspaceId = ref === undefined ? principal.workspaceId : (await this.workspaces.get(principal, ref)).id;
    const enforced = await this.keys.enforcedMetadata(principal, api_key);
    const defaults = await this.workspaces.defaultMetadata(principal.organisationId, workspaceId);
    return {
      api_key,
      organisation_id: principal.organisationId,
      workspace_id: workspaceId ?? undefined,
      virtual_key: dto.virtual_key,
      provider,
      model: model === undefined ? undefined : canonicalModel(provider, model),
      modelAliases: model === undefined ? [] : modelAliases(provider, model),
      endpoint,
      mcp_server: dto.mcp_server,
      mcp_tool: dto.mcp_tool,
      metadata: { ...defaults, ...dto.metadata, ...enforced },
    };
  }
}
