import type { Principal } from '../access/principal.js';
import { allowsEveryModel, allowsModel } from '../access/model-patterns.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { canonicalModel, foldModel, modelAliases } from '../usage/model-names.js';
import type { UsableVirtualKey } from '../virtual-keys/virtual-key.cache.js';

type Caller = Pick<Principal, 'providerAccess'>;

/** @throws GatewayError `model_not_allowed` for a virtual key that the API key may not use */
export function assertVirtualKeyAllowed(caller: Caller, virtualKey: UsableVirtualKey, param: string): void {
  if (mayUse(caller, virtualKey)) return;
  const message = 'The API key may not use this virtual key (allowed_virtual_keys).';
  throw new GatewayError('model_not_allowed', { param, message });
}

export function mayUse({ providerAccess }: Caller, { id }: UsableVirtualKey): boolean {
  return providerAccess?.allowedVirtualKeys?.includes(id) ?? true;
}

export function restrictsModels({ providerAccess }: Caller): boolean {
  return (providerAccess?.allowedModels ?? null) !== null;
}

/** @throws GatewayError `model_not_allowed` for a model that the API key may not use */
export function assertModelAllowed({ providerAccess }: Caller, virtualKey: UsableVirtualKey, model: string): void {
  const patterns = providerAccess?.allowedModels ?? undefined;
  if (patterns === undefined) return;
  const provider = virtualKey.provider.slug;
  const aliases = modelAliases(provider, model).map(({ text }) => text);
  const names = [foldModel(model), canonicalModel(provider, model), ...aliases];
  if (!allowsModel(patterns, virtualKey.slug, names)) throw new GatewayError('model_not_allowed', { param: 'model' });
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
