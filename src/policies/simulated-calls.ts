import { Injectable } from '@nestjs/common';
import type { Principal } from '../access/principal.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import { OfferedEndpoints } from '../upstream/providers/offered-endpoints.js';
import { foldNames } from '../usage/call-names.js';
import { canonicalModel, modelAliases } from '../usage/model-names.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import type { SimulateUsageDto } from './dto/simulate-usage.dto.js';
import { readName, unknownApiKey } from './known-names.js';
import type { PolicyAttributes } from './policy-keys.js';
import { PolicyNames } from './policy-names.js';

/** The names of a call that are looked up like those in policies. The API key and the workspace are looked up with their metadata. */
const LOOKED_UP = ['virtual_key', 'provider', 'endpoint', 'mcp_server'] as const;

export interface SimulatedCall {
  readonly facts: PolicyAttributes;
  /** Whether such a call is counted against usage limits. */
  readonly isMetered: boolean;
  /** The provider that the call names, or else the only one of its virtual key. */
  readonly provider: string | undefined;
}

/** Reads what is said about a call that is simulated. */
@Injectable()
export class SimulatedCalls {
  constructor(
    private readonly workspaces: WorkspacesService,
    private readonly apiKeys: ApiKeysService,
    private readonly names: PolicyNames,
    private readonly offered: OfferedEndpoints,
  ) {}

  /**
   * @throws GatewayError `validation_failed` for a name that none of the caller's calls can have; `not_found` for a workspace
   * that the caller cannot see
   */
  async read(principal: Principal, dto: SimulateUsageDto): Promise<SimulatedCall> {
    const providers = await this.providersOf(principal, dto);
    const facts = await this.factsOf(principal, dto);
    const provider = facts.provider ?? (providers?.length === 1 ? providers[0] : undefined);
    return { facts, provider, isMetered: this.isMetered(facts, providers) };
  }

  /** Checks the names, and returns the providers of the virtual key; undefined: the call names none. */
  private async providersOf(principal: Principal, dto: SimulateUsageDto): Promise<readonly string[] | undefined> {
    const named = LOOKED_UP.flatMap((key) => (dto[key] === undefined ? [] : { key, value: dto[key] }));
    const known = await this.names.known(principal, named);
    for (const { key, value } of named) readName(known, key, value, key);
    return dto.virtual_key === undefined ? undefined : known.virtualKeys.get(dto.virtual_key);
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
    const enforced = await this.enforcedMetadata(principal, api_key);
    const { defaultMetadata: defaults } = await this.workspaces.callSettings(principal.organisationId, workspaceId);
    return {
      api_key,
      organisation_id: principal.organisationId,
      workspace_id: workspaceId ?? undefined,
      virtual_key: dto.virtual_key,
      provider,
      model: model === undefined ? undefined : canonicalModel(provider, model),
      model_requested: dto.model_requested,
      modelAliases: model === undefined ? [] : modelAliases(provider, model),
      endpoint,
      mcp_server: dto.mcp_server,
      mcp_tool: dto.mcp_tool,
      metadata: { ...defaults, ...dto.metadata, ...enforced },
    };
  }

  /**
   * A caller of one workspace can name its own keys only. Otherwise, it could find out by simulations how much the keys of
   * others have used.
   */
  private async enforcedMetadata(
    principal: Principal,
    apiKey: string | undefined,
  ): Promise<PolicyAttributes['metadata']> {
    if (apiKey === undefined) return {};
    if (apiKey === principal.id) return principal.enforcedMetadata;
    const enforced = await this.apiKeys.enforcedMetadata(principal, apiKey);
    if (enforced === undefined) throw unknownApiKey(apiKey, 'api_key');
    return enforced;
  }
}
