import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal, Tenant } from '../access/principal.js';
import { fieldError, type FieldProblem, GatewayError, throwIfInvalid } from '../common/errors/gateway.error.js';
import { assertFixedFields } from '../common/validation/fixed-fields.decorator.js';
import { Clock } from '../common/time/clock.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { withFreeSlug } from '../database/rows.js';
import type { ProviderSlug } from '../upstream/providers/provider.types.js';
import { modelFacts } from '../usage/models/model-catalogue.js';
import { VirtualKeyStore } from '../virtual-keys/virtual-key.store.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import type { CreateModelRouteDto, ModelTargetDto, UpdateModelRouteDto } from './dto/model-route.dto.js';
import type { ModelRouteListQuery } from './dto/model-route-list.query.js';
import { mayUse, mayUseModel } from './model-access.js';
import { ModelRouteCache } from './model-route.cache.js';
import type { ModelRoute, ModelTarget } from './model-route.entity.js';
import { type ModelRouteHealthResponse, toHealthResponse } from './model-route-health.response.js';
import { toModelRouteResponse } from './model-route.response.js';
import { ModelRouteStore } from './model-route.store.js';
import { healthKeyOf, TargetHealth } from './target-health.js';

/** Creates, reads and changes model routes. */
@Injectable()
export class ModelRoutesService {
  constructor(
    private readonly store: ModelRouteStore,
    private readonly virtualKeys: VirtualKeyStore,
    private readonly workspaces: WorkspacesService,
    private readonly cache: ModelRouteCache,
    private readonly targets: TargetHealth,
    private readonly clock: Clock,
  ) {}

  async create(principal: Principal, dto: CreateModelRouteDto): Promise<ModelRoute> {
    const { organisationId } = principal;
    const workspaceId = await this.workspaces.resolveOrShared(principal, dto.workspace_id);
    const {
      name,
      description = null,
      max_output_tokens: maxOutputTokens = null,
      clamp_output: clampOutput = false,
    } = dto;
    const saved = await withFreeSlug(dto.slug, name, (slug) =>
      this.store.manager.transaction(async (manager) => {
        const tenant = { organisationId, workspaceId };
        const targets = await this.targetsOf(manager, tenant, dto.targets);
        await this.assertMayLead(manager, principal, tenant, targets);
        const output = { maxOutputTokens, clampOutput };
        const fields = { id: randomUUID(), organisationId, workspaceId, slug, name, description, targets, ...output };
        return this.store.create(manager, principal, fields, dto);
      }),
    );
    this.cache.forget(organisationId);
    return saved;
  }

  async list(principal: Principal, query: ModelRouteListQuery): Promise<[ModelRoute[], number]> {
    return this.store.list(principal, query, await this.workspaces.filterBy(principal, query.workspace_id));
  }

  async get(principal: Principal, ref: string): Promise<ModelRoute> {
    return this.store.get(principal, ref);
  }

  async health(principal: Principal, ref: string): Promise<ModelRouteHealthResponse> {
    const now = this.clock.now().getTime();
    return toHealthResponse(await this.store.get(principal, ref), (target) =>
      this.targets.report(healthKeyOf(target), now),
    );
  }

  async update(principal: Principal, ref: string, dto: UpdateModelRouteDto): Promise<ModelRoute> {
    const { name, description, max_output_tokens: maxOutputTokens, clamp_output: clampOutput } = dto;
    const fixed = await this.workspaces.fixedFieldsOf(principal, dto);
    const saved = await this.store.change(principal, ref, dto, async (row, manager) => {
      assertFixedFields(fixed, toModelRouteResponse(row));
      const targets = dto.targets && (await this.targetsOf(manager, row, dto.targets, row.targets));
      if (name !== undefined || targets !== undefined)
        await this.assertMayLead(manager, principal, row, targets ?? row.targets);
      return withoutUndefined({ name, description, targets, maxOutputTokens, clampOutput });
    });
    this.cache.forget(principal.organisationId);
    return saved;
  }

  async delete(principal: Principal, ref: string): Promise<void> {
    await this.store.delete(principal, ref);
    this.cache.forget(principal.organisationId);
  }

  /**
   * @param tenant that the route is for
   * @param kept targets that stay also when their virtual key is gone
   * @throws GatewayError `validation_failed` for a virtual key that the tenant cannot use
   */
  private async targetsOf(
    manager: EntityManager,
    tenant: Tenant,
    given: readonly ModelTargetDto[],
    kept: readonly ModelTarget[] = [],
  ): Promise<readonly ModelTarget[]> {
    const known = await this.virtualKeys.namesForUse(
      manager,
      tenant,
      given.map((target) => target.virtual_key),
    );
    const problems = given.flatMap((target, index) => {
      const { virtual_key: ref } = target;
      const found = known.get(ref);
      if (found !== undefined)
        return [...problemsOfBase(target, found.provider, index), ...problemsOfSize(target, index)];
      if (kept.some(({ virtualKey }) => virtualKey === ref)) return [];
      return [
        fieldError(`targets.${index}.virtual_key`, 'must be a virtual key that the callers of the route can use'),
      ];
    });
    throwIfInvalid(problems);
    return given.flatMap((target) => {
      const { virtual_key: ref, model, order = 0, conditions = [] } = target;
      const found = known.get(ref) ?? kept.map(nameOf).find(({ slug }) => slug === ref);
      if (found === undefined) return [];
      const more = withoutUndefined({
        baseModel: target.base_model ?? undefined,
        weight: target.weight ?? undefined,
        conditions: conditions.length === 0 ? undefined : conditions,
        minEstimatedTokens: target.min_estimated_tokens ?? undefined,
        maxEstimatedTokens: target.max_estimated_tokens ?? undefined,
        minBudgetLeft: target.min_budget_left ?? undefined,
        timeoutMs: target.timeout_ms ?? undefined,
      });
      return [{ virtualKeyId: found.id, virtualKey: found.slug, model, order, ...more }];
    });
  }

  /**
   * The name of a route stands for all that it leads to, so no caller makes one for models that it may not use itself.
   * @throws GatewayError `permission_denied`
   */
  private async assertMayLead(
    manager: EntityManager,
    principal: Principal,
    tenant: Tenant,
    targets: readonly ModelTarget[],
  ): Promise<void> {
    const ids = targets.map(({ virtualKeyId }) => virtualKeyId);
    const known = await this.virtualKeys.namesForUse(manager, tenant, ids);
    for (const [index, { virtualKeyId, model }] of targets.entries()) {
      const found = known.get(virtualKeyId);
      // Without its virtual key, a target leads nowhere.
      if (found === undefined) continue;
      const virtualKey = { id: found.id, slug: found.slug, provider: { slug: found.provider } };
      if (mayUse(principal, virtualKey) && mayUseModel(principal, virtualKey, model)) continue;
      const message = 'A model route can lead only to models and virtual keys that the caller itself may use.';
      throw new GatewayError('permission_denied', { param: `targets.${index}`, message });
    }
  }
}

/** Whose models have the names that a customer gives to deployments. */
const NAMED_BY_CUSTOMERS: ReadonlySet<ProviderSlug> = new Set(['azure-ai', 'azure-openai']);

/** A known model under the prices of a cheaper one would be a way around limits. */
function problemsOfBase(
  { model, base_model: base }: ModelTargetDto,
  provider: ProviderSlug,
  index: number,
): readonly FieldProblem[] {
  if (typeof base !== 'string' || NAMED_BY_CUSTOMERS.has(provider)) return [];
  if (modelFacts(provider, model) === undefined) return [];
  return [
    fieldError(`targets.${index}.base_model`, 'is only for private names, and the provider has a model of this name'),
  ];
}

function problemsOfSize(
  { min_estimated_tokens: least, max_estimated_tokens: most }: ModelTargetDto,
  index: number,
): readonly FieldProblem[] {
  if ((least ?? 0) <= (most ?? Infinity)) return [];
  return [fieldError(`targets.${index}.max_estimated_tokens`, 'must not be below min_estimated_tokens')];
}

function nameOf({ virtualKeyId, virtualKey }: ModelTarget): { readonly id: string; readonly slug: string } {
  return { id: virtualKeyId, slug: virtualKey };
}
