import { Injectable } from '@nestjs/common';
import type { Principal } from '../../access/principal.js';
import { type ListOf, toSkipTake } from '../../common/pagination/list.js';
import { Clock } from '../../common/time/clock.js';
import { PriceCatalogue } from '../prices/price-catalogue.js';
import type { KnownModel } from '../snapshot/model-rows.js';
import type { CatalogueModelQuery, CatalogueSort } from './catalogue-model.query.js';
import { type CatalogueModelResponse, toCatalogueModelResponse } from './catalogue-model.response.js';
import { catalogueModels } from './model-catalogue.js';

/** Lists the bundled models, with their prices for the caller's organisation. */
@Injectable()
export class ModelCatalogueService {
  constructor(
    private readonly prices: PriceCatalogue,
    private readonly clock: Clock,
  ) {}

  async list({ organisationId }: Principal, query: CatalogueModelQuery): Promise<ListOf<CatalogueModelResponse>> {
    const found = catalogueModels()
      .filter((model) => fits(model, query))
      .sort(ORDERS[query.sort]);
    const { skip, take } = toSkipTake(query);
    const now = this.clock.now();
    const data: CatalogueModelResponse[] = [];
    for (const known of found.slice(skip, skip + take)) {
      const prices = await this.prices.pricesFor(organisationId, known.provider, known.model, now);
      data.push(toCatalogueModelResponse(known, prices));
    }
    return { object: 'list', data, total: found.length };
  }
}

function fits({ provider, model, facts }: KnownModel, query: CatalogueModelQuery): boolean {
  const search = query.search?.toLowerCase();
  return (
    (query.provider === undefined || query.provider === provider) &&
    (query.input_modality === undefined || facts.inputModalities.includes(query.input_modality)) &&
    (search === undefined || `${provider} ${model}`.toLowerCase().includes(search))
  );
}

const byModel = (one: KnownModel, other: KnownModel): number =>
  compare(one.model, other.model) || compare(one.provider, other.provider);
const byWindow = (one: KnownModel, other: KnownModel): number =>
  one.facts.contextWindow - other.facts.contextWindow || byModel(one, other);

const ORDERS: Readonly<Record<CatalogueSort, (one: KnownModel, other: KnownModel) => number>> = {
  provider: (one, other) => compare(one.provider, other.provider) || byModel(one, other),
  model: byModel,
  context_window: byWindow,
  '-context_window': (one, other) => -byWindow(one, other),
};

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
