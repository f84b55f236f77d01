import { Injectable } from '@nestjs/common';
import type { Principal } from '../access/principal.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { type MaybePromise, chain } from '../common/maybe-promise.js';
import { Clock } from '../common/time/clock.js';
import { type UsableVirtualKey, VirtualKeyCache } from '../virtual-keys/virtual-key.cache.js';
import { VirtualKeyStore } from '../virtual-keys/virtual-key.store.js';
import { type KnownRoute, ModelRouteCache } from '../model-routes/model-route.cache.js';
import { TargetHealth } from '../model-routes/target-health.js';
import { inTurn } from '../model-routes/target-order.js';
import { compileTarget, type KnownTarget, type RoutedCall } from '../model-routes/target-terms.js';
import { canonicalModel, modelAliases } from '../usage/model-names.js';
import { LimitStates } from './routing/limit-states.js';
import { CONFIG_HEADER, type ConfigTarget } from './routing/portkey-config.js';
import { RESPONSE_ID, ResponsePins } from './routing/response-pins.js';
import { assertVirtualKeyAllowed, mayUse, mayUseModel, mayUseRoute } from '../model-routes/model-access.js';

const HEADER = 'x-gateway-virtual-key';
/** Models of some providers contain a slash too, and some begin with `@`. */
const PREFIXED = /^(?<at>@?)(?<slug>[a-zA-Z0-9_-]{1,255})\/(?<model>.+)$/s;
const MAX_NAMES = 20;

/** A model route in use for one call. */
export interface UsedRoute extends Pick<KnownRoute, 'output' | 'targets'> {
  /** undefined when the client named the targets itself. */
  readonly name: string | undefined;
  readonly call: RoutedCall;
  /** The target that gets the call. */
  readonly target: KnownTarget;
  /** The targets that get it when this one fails, in order. */
  readonly others: readonly KnownTarget[];
}

/** The virtual key and model that a request is sent to. */
export interface Destination {
  readonly virtualKey: UsableVirtualKey;
  /** The provider's name of the model; undefined when the request names none. */
  readonly model: string | undefined;
  /** The model route that leads here. */
  readonly route?: UsedRoute;
}

interface Prefixed {
  /** Whether the prefix must be a virtual key. */
  readonly isCertain: boolean;
  readonly slug: string;
  readonly model: string;
}

/**
 * Finds the virtual key of a request to a provider. In order of precedence: the header, the prefix of the model, a
 * model route, the account of a stored response, the default of the API key.
 */
@Injectable()
export class VirtualKeyFinder {
  constructor(
    private readonly virtualKeys: VirtualKeyCache,
    private readonly store: VirtualKeyStore,
    private readonly routes: ModelRouteCache,
    private readonly health: TargetHealth,
    private readonly limits: LimitStates,
    private readonly pins: ResponsePins,
    private readonly clock: Clock,
  ) {}

  /**
   * @param slug of the header
   * @param model as the caller wrote it
   * @throws GatewayError `virtual_key_required`, `virtual_key_not_found`, `model_not_found`, `model_not_allowed`;
   * `validation_failed` where header and model name two virtual keys
   */
  find(
    principal: Principal,
    slug: string | undefined,
    model: string | undefined,
    call: RoutedCall,
  ): MaybePromise<Destination> {
    const prefixed = model === undefined ? undefined : readPrefix(model);
    if (slug !== undefined) return this.byHeader(principal, slug, model, prefixed);
    if (prefixed === undefined) return this.byName(principal, model, call);
    return chain(this.virtualKeys.find(principal, prefixed.slug, this.now()), (virtualKey) => {
      if (virtualKey !== undefined && (prefixed.isCertain || mayUse(principal, virtualKey))) {
        assertVirtualKeyAllowed(principal, virtualKey, 'model');
        return { virtualKey, model: prefixed.model };
      }
      return prefixed.isCertain ? this.refuse(principal) : this.byName(principal, model, call);
    });
  }

  private byHeader(
    principal: Principal,
    slug: string,
    model: string | undefined,
    prefixed: Prefixed | undefined,
  ): MaybePromise<Destination> {
    return chain(this.virtualKeys.find(principal, slug, this.now()), (virtualKey) => {
      if (virtualKey === undefined) throw new GatewayError('virtual_key_not_found', { param: HEADER });
      assertVirtualKeyAllowed(principal, virtualKey, HEADER);
      if (prefixed?.isCertain !== true) return { virtualKey, model };
      return chain(this.virtualKeys.find(principal, prefixed.slug, this.now()), (named) => {
        // The prefix is part of the model's name: `@cf/baai/bge-reranker-base`.
        if (named === undefined) return { virtualKey, model };
        if (named.id === virtualKey.id) return { virtualKey, model: prefixed.model };
        throw contradiction(virtualKey.slug, named.slug);
      });
    });
  }

  /** For a model without a virtual key: the name of a model route, or a model of the default virtual key. */
  private byName(principal: Principal, model: string | undefined, call: RoutedCall): MaybePromise<Destination> {
    if (model === undefined) return this.byStoredResponse(principal, call);
    return chain(this.routes.find(principal, model, this.now()), (route) => {
      if (route === undefined) return this.byDefault(principal, model);
      const { name, output, targets } = route;
      return this.byTargets(principal, { name, output, targets, call });
    });
  }

  /**
   * Uses the targets that the client named in a config.
   * @throws GatewayError `virtual_key_not_found`, `model_not_allowed`
   */
  async byConfig(
    principal: Principal,
    named: readonly [ConfigTarget, ...ConfigTarget[]],
    model: string | undefined,
    call: RoutedCall,
  ): Promise<Destination> {
    const prefixed = model === undefined ? undefined : readPrefix(model);
    const plain = prefixed?.isCertain === true ? prefixed.model : model;
    const targets: KnownTarget[] = [];
    for (const { virtualKey: slug, model: own, ...terms } of named) {
      const virtualKey = await this.virtualKeys.find(principal, slug, this.now());
      if (virtualKey === undefined) throw new GatewayError('virtual_key_not_found', { param: CONFIG_HEADER });
      assertVirtualKeyAllowed(principal, virtualKey, CONFIG_HEADER);
      const name = own ?? plain;
      // A request without a model does not fail over.
      if (name === undefined) return { virtualKey, model: undefined };
      targets.push(compileTarget({ ...terms, virtualKeyId: virtualKey.id, virtualKey: virtualKey.slug, model: name }));
    }
    return this.byTargets(principal, { name: undefined, output: NO_OUTPUT, targets, call });
  }

  private byTargets(principal: Principal, route: Omit<UsedRoute, 'target' | 'others'>): MaybePromise<Destination> {
    const { targets, call } = route;
    const now = this.now();
    const isHealthy = (target: KnownTarget): boolean => this.health.isHealthy(target.healthKey, now);
    const affinity = targets.some(({ weight }) => weight !== undefined) ? call.affinity() : undefined;
    const open = targets.filter(({ accepts }) => accepts?.(call) ?? true);
    const ordered = inTurn(open, { isHealthy, affinity, random: Math.random });
    const previous = targets.length > 1 ? call.previousResponse() : undefined;
    if (previous === undefined) return this.firstUsable(principal, route, ordered);
    return this.targetsStoring(principal, previous, ordered).then((kept) => this.firstUsable(principal, route, kept));
  }

  /**
   * Returns the first target that the caller can use.
   * @throws GatewayError `model_not_found`, `model_not_allowed` or `secret_unavailable` when there is none
   */
  async firstUsable(
    principal: Principal,
    { name, output, targets: all, call }: Omit<UsedRoute, 'target' | 'others'>,
    targets: readonly KnownTarget[],
  ): Promise<Destination> {
    let failure: GatewayError | undefined;
    for (const [index, target] of targets.entries()) {
      const { virtualKeyId, model } = target;
      try {
        const virtualKey = await this.virtualKeys.findById(principal, virtualKeyId, this.now());
        if (virtualKey === undefined) continue;
        if (!mayUse(principal, virtualKey) || !mayUseModel(principal, virtualKey, model, name)) {
          failure ??= new GatewayError('model_not_allowed', { param: 'model' });
          continue;
        }
        if (target.minBudgetLeft !== undefined && !(await this.hasBudget(principal, virtualKey, target, call)))
          continue;
        return {
          virtualKey,
          model,
          route: { name, output, targets: all, call, target, others: targets.slice(index + 1) },
        };
      } catch (error) {
        // The credential of this target cannot be read; the next one may work.
        if (!(error instanceof GatewayError) || error.code !== 'secret_unavailable') throw error;
        failure = error;
      }
    }
    const message =
      'No target of this model route takes this call: its conditions are not met, or its virtual key is expired, deleted or of another workspace.';
    throw failure ?? new GatewayError('model_not_found', { param: 'model', message });
  }

  /** The targets whose account stores the response that a call continues; all targets when that is not known. */
  private async targetsStoring(
    { organisationId }: Principal,
    previous: string,
    targets: readonly KnownTarget[],
  ): Promise<readonly KnownTarget[]> {
    const pinned = await this.pins.find(organisationId, previous);
    const kept = targets.filter(({ virtualKeyId }) => virtualKeyId === pinned);
    return kept.length === 0 ? targets : kept;
  }

  /** For a call without a model: the account that stores its response, when that is known. */
  private byStoredResponse(principal: Principal, call: RoutedCall): MaybePromise<Destination> {
    const id = call.storedResponse();
    if (id === undefined) return this.byDefault(principal, undefined);
    return this.pins
      .find(principal.organisationId, id)
      .then((pinned) => (pinned === undefined ? undefined : this.virtualKeys.findById(principal, pinned, this.now())))
      .then((virtualKey) => {
        if (virtualKey === undefined) return this.byDefault(principal, undefined);
        assertVirtualKeyAllowed(principal, virtualKey, RESPONSE_ID);
        return { virtualKey, model: undefined };
      });
  }

  private async hasBudget(
    { organisationId }: Principal,
    { slug, provider }: UsableVirtualKey,
    { model, minBudgetLeft = 0 }: KnownTarget,
    call: RoutedCall,
  ): Promise<boolean> {
    const names = { virtual_key: slug, provider: provider.slug, model: canonicalModel(provider.slug, model) };
    const facts = { ...call.attributes(), ...names, modelAliases: modelAliases(provider.slug, model) };
    return this.limits.haveLeft(organisationId, facts, minBudgetLeft);
  }

  private byDefault(principal: Principal, model: string | undefined): MaybePromise<Destination> {
    const id = principal.providerAccess?.defaultVirtualKeyId ?? undefined;
    const found = id === undefined ? undefined : this.virtualKeys.findById(principal, id, this.now());
    return chain(found, (virtualKey): MaybePromise<Destination> => {
      if (virtualKey !== undefined) return { virtualKey, model };
      if (model !== undefined) return this.refuse(principal);
      throw new GatewayError('virtual_key_required', { param: HEADER });
    });
  }

  private async refuse(principal: Principal): Promise<never> {
    const ids = principal.providerAccess?.allowedVirtualKeys ?? undefined;
    const found = await this.store.listForUse(principal, ids, this.clock.now(), MAX_NAMES);
    const slugs = new Set(found.map(({ slug }) => slug));
    const known = await this.routes.visibleTo(principal, this.now());
    const routes = known.filter((route) => mayUseRoute(principal, route)).map(({ name }) => name);
    const names = [...routes, ...[...slugs].map((slug) => `@${slug}/<model>`)].slice(0, MAX_NAMES).join(', ');
    const instead = names === '' ? 'The caller can use no virtual key.' : `The caller can use ${names}.`;
    const message = `No virtual key or model route is known for this model. ${instead}`;
    throw new GatewayError('model_not_found', { param: 'model', message });
  }

  private now(): number {
    return this.clock.now().getTime();
  }
}

const NO_OUTPUT = { maxTokens: null, isClamped: false } as const;

/**
 * The error for a header and a model that name two virtual keys. Neither provider would know the model by that name.
 */
function contradiction(inHeader: string, inModel: string): GatewayError {
  const message =
    `${HEADER} names the virtual key ${inHeader}, and model names ${inModel}. Name one of them, ` +
    `or write @${inHeader}/@${inModel}/… for a model whose own name begins with @${inModel}.`;
  return new GatewayError('validation_failed', { param: 'model', message });
}

function readPrefix(model: string): Prefixed | undefined {
  const { at, slug, model: name } = PREFIXED.exec(model)?.groups ?? {};
  return slug === undefined || name === undefined ? undefined : { isCertain: at === '@', slug, model: name };
}
