import type { Principal } from '../access/principal.js';
import { allowsEveryModel, allowsModel } from '../access/model-patterns.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import type { KnownRoute } from './model-route.cache.js';
import { canonicalModel, foldModel, modelAliases } from '../usage/model-names.js';
import type { UsableVirtualKey } from '../virtual-keys/virtual-key.cache.js';

type Caller = Pick<Principal, 'providerAccess'>;

/** @throws GatewayError `model_not_allowed` for a virtual key that the API key may not use */
export function assertVirtualKeyAllowed(caller: Caller, virtualKey: UsableVirtualKey, param: string): void {
  if (mayUse(caller, virtualKey)) return;
  const message = 'The API key may not use this virtual key (allowed_virtual_keys).';
  throw new GatewayError('model_not_allowed', { param, message });
}

export function mayUse({ providerAccess }: Caller, { id }: Pick<UsableVirtualKey, 'id'>): boolean {
  return providerAccess?.allowedVirtualKeys?.includes(id) ?? true;
}

export function restrictsModels({ providerAccess }: Caller): boolean {
  return (providerAccess?.allowedModels ?? null) !== null;
}

/**
 * @param route the model route that leads to the model: its name stands for all that it leads to
 * @throws GatewayError `model_not_allowed` for a model that the API key may not use
 */
export function assertModelAllowed(caller: Caller, virtualKey: UsableVirtualKey, model: string, route?: string): void {
  if (!mayUseModel(caller, virtualKey, model, route)) throw new GatewayError('model_not_allowed', { param: 'model' });
}

/** Whether a caller may know of a model route: that it may use one of its targets. */
export function mayUseRoute(caller: Caller, { name, targets }: Pick<KnownRoute, 'name' | 'targets'>): boolean {
  const patterns = caller.providerAccess?.allowedModels ?? undefined;
  return targets.some(({ virtualKeyId, virtualKey, model }) => {
    if (!mayUse(caller, { id: virtualKeyId })) return false;
    return patterns === undefined || allowsModel(patterns, virtualKey, [foldModel(model), foldModel(name)]);
  });
}

export function mayUseModel(
  { providerAccess }: Caller,
  virtualKey: { readonly slug: string; readonly provider: Pick<UsableVirtualKey['provider'], 'slug'> },
  model: string,
  route?: string,
): boolean {
  const patterns = providerAccess?.allowedModels ?? undefined;
  if (patterns === undefined) return true;
  const provider = virtualKey.provider.slug;
  const aliases = modelAliases(provider, model).map(({ text }) => text);
  const names = [foldModel(model), canonicalModel(provider, model), ...aliases];
  if (route !== undefined) names.push(foldModel(route));
  return allowsModel(patterns, virtualKey.slug, names);
}

/**
 * For work whose models stand somewhere else: in the file of a batch, or in the assistant of a run.
 * @throws GatewayError `model_not_allowed` for an API key that may not use every model
 */
export function assertEveryModelAllowed({ providerAccess }: Caller): void {
  const patterns = providerAccess?.allowedModels ?? undefined;
  if (patterns === undefined || allowsEveryModel(patterns)) return;
  const message =
    'The API key may use certain models only (allowed_models), and this request does not say which it uses.';
  throw new GatewayError('model_not_allowed', { param: 'model', message });
}
