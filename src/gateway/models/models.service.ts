import { Injectable } from '@nestjs/common';
import { exactModels } from '../../access/model-patterns.js';
import type { Principal } from '../../access/principal.js';
import { GatewayError, invalidField } from '../../common/errors/gateway.error.js';
import { Clock } from '../../common/time/clock.js';
import { toUnixSeconds } from '../../common/time/unix-time.js';
import { ModelRouteCache } from '../../model-routes/model-route.cache.js';
import { ProviderRegistry } from '../../upstream/providers/provider.registry.js';
import type { Provider } from '../../upstream/providers/provider.types.js';
import { foldModel } from '../../usage/model-names.js';
import { knownModels, modelFacts } from '../../usage/models/model-catalogue.js';
import { VirtualKeyStore } from '../../virtual-keys/virtual-key.store.js';
import { mayUse, mayUseModel } from '../../model-routes/model-access.js';
import type { ModelsQuery } from './models.query.js';
import type { ModelListResponse, ModelResponse } from './models.response.js';

const MAX_VIRTUAL_KEYS = 1_000;
const MAX_MODELS = 1_000;
const GATEWAY = 'tollgate';
const UNKNOWN_DATE = new Date(0);

/** The models that a caller can name. No provider is asked. */
@Injectable()
export class ModelsService {
  constructor(
    private readonly routes: ModelRouteCache,
    private readonly virtualKeys: VirtualKeyStore,
    private readonly providers: ProviderRegistry,
    private readonly clock: Clock,
  ) {}

  async list(principal: Principal, { limit, after_id, before_id }: ModelsQuery): Promise<ModelListResponse> {
    const all = await this.all(principal);
    const start = after_id === undefined ? 0 : indexOf(all, after_id, 'after_id') + 1;
    const end = before_id === undefined ? all.length : indexOf(all, before_id, 'before_id');
    const from = before_id === undefined ? start : Math.max(start, end - limit);
    const data = all.slice(from, Math.min(end, from + limit));
    const hasMore = before_id === undefined ? from + data.length < end : from > start;
    return { object: 'list', data, has_more: hasMore, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  }

  /** @throws GatewayError `model_not_found` */
  async get(principal: Principal, id: string): Promise<ModelResponse> {
    const found = (await this.all(principal)).find((model) => model.id === id);
    if (found === undefined) throw new GatewayError('model_not_found', { param: 'model' });
    return found;
  }

  /** Model routes, then the models of the default virtual key, then those of all virtual keys, with its slug before each. */
  private async all(principal: Principal): Promise<readonly ModelResponse[]> {
    const now = this.clock.now();
    const { allowedVirtualKeys, defaultVirtualKeyId } = principal.providerAccess ?? {};
    const found = await this.virtualKeys.listForUse(principal, allowedVirtualKeys ?? undefined, now, MAX_VIRTUAL_KEYS);
    const keys = found.flatMap(({ id, slug, provider: name }) => {
      const provider = this.providers.find(name);
      return provider === undefined ? [] : [{ id, slug, provider }];
    });
    const visible = await this.routes.visibleTo(principal, now.getTime());
    const routes = visible
      .filter(({ name, targets }) =>
        targets.some(({ virtualKeyId, model }) => {
          const key = keys.find(({ id }) => id === virtualKeyId);
          return key !== undefined && mayUse(principal, key) && mayUseModel(principal, key, model, name);
        }),
      )
      .map(({ name, createdAt }) => modelOf(name, GATEWAY, createdAt));
    // A call of these names goes elsewhere than to the default virtual key.
    const taken = new Set(visible.map(({ name }) => name));
    const goesToDefault = (model: string): boolean =>
      !taken.has(model) && !keys.some(({ slug }) => model.startsWith(`${slug}/`));
    const listed = keys.flatMap((key) => {
      const isDefault = key.id === defaultVirtualKeyId;
      const models = modelsOf(principal, key, isDefault || keys.length === 1);
      const named = models.map((model) => modelOf(`@${key.slug}/${model}`, key.provider.slug));
      const plain = isDefault ? models.filter(goesToDefault).map((model) => modelOf(model, key.provider.slug)) : [];
      return [...plain, ...named];
    });
    const byId = new Map([...routes, ...listed].map((model) => [model.id, model] as const).toReversed());
    return [...byId.values()].toReversed().slice(0, MAX_MODELS);
  }
}

interface ListedKey {
  readonly slug: string;
  readonly provider: Pick<Provider, 'slug' | 'dialects'>;
}

/**
 * The models that are known of a virtual key: those that the API key names in full, then those of the catalogue.
 * @param takesPlainNames whether a name without a virtual key can only mean this one
 */
function modelsOf(principal: Principal, key: ListedKey, takesPlainNames: boolean): readonly string[] {
  const known = knownModels(key.provider.slug).filter(
    (model) => isOffered(key.provider, model) && mayUseModel(principal, key, model),
  );
  const named = exactModels(principal.providerAccess?.allowedModels ?? [])
    .filter(({ slug }) => (slug === undefined ? takesPlainNames : slug === key.slug))
    .map(({ model }) => model);
  const catalogue = new Set(known);
  return [...named.filter((model) => !catalogue.has(foldModel(model))), ...known];
}

/** Of providers that speak no dialect of models that write, such as Cohere, the gateway offers the rerankers alone. */
function isOffered({ slug, dialects }: ListedKey['provider'], model: string): boolean {
  return dialects !== undefined || modelFacts(slug, model)?.maxOutput === 0;
}

function modelOf(id: string, owner: string, createdAt = UNKNOWN_DATE): ModelResponse {
  return {
    id,
    object: 'model',
    type: 'model',
    created: toUnixSeconds(createdAt),
    created_at: createdAt.toISOString(),
    owned_by: owner,
    display_name: id,
  };
}

function indexOf(models: readonly ModelResponse[], id: string, field: string): number {
  const index = models.findIndex((model) => model.id === id);
  if (index === -1) throw invalidField(field, 'must be the id of a model of this list');
  return index;
}
