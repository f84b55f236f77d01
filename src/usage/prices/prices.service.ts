import { Injectable } from '@nestjs/common';
import type { Principal } from '../../access/principal.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { toSkipTake } from '../../common/pagination/list.js';
import { Clock } from '../../common/time/clock.js';
import { fromUnixSeconds, toUnixSeconds } from '../../common/time/unix-time.js';
import { foldId, isUuid } from '../../common/uuid.js';
import { withoutUndefined } from '../../common/without-undefined.js';
import type { PriceListQuery } from './dto/price-list.query.js';
import type { CreatePriceDto } from './dto/price.dto.js';
import { PriceCatalogue } from './price-catalogue.js';
import { PriceStore } from './price.store.js';
import { unitOf } from './price.types.js';
import { bundledVisible, fromRow, type VisiblePrice } from './visible-price.js';

/** Manages the prices of organisations. Workspaces can read them, and are charged by them. */
@Injectable()
export class PricesService {
  constructor(
    private readonly store: PriceStore,
    private readonly catalogue: PriceCatalogue,
    private readonly clock: Clock,
  ) {}

  async create(principal: Principal, dto: CreatePriceDto): Promise<VisiblePrice> {
    assertOrganisationLevel(principal);
    const { organisation_id: _named, effective_from: from, min_input_tokens: minInputTokens, ...fields } = dto;
    const row = await this.store.create(
      principal,
      {
        ...withoutUndefined({ ...fields, minInputTokens }),
        organisationId: principal.organisationId,
        // In whole seconds, like a time in a request. Of two prices of one second, the later one applies.
        effectiveFrom: fromUnixSeconds(from ?? toUnixSeconds(this.clock.now())),
        source: 'api',
        createdBy: principal.id,
      },
      Object.keys(withoutUndefined({ ...fields, min_input_tokens: minInputTokens, effective_from: from })),
    );
    this.catalogue.forget(principal.organisationId);
    return fromRow(row);
  }

  /** A page of prices with the total: the organisation's own, then the operator's, then the bundled ones. */
  async list(principal: Principal, query: PriceListQuery): Promise<[VisiblePrice[], number]> {
    const [rows, stored] = await this.store.list(principal.organisationId, query);
    const bundled = inOrder(
      bundledVisible().filter((price) => fits(price, query)),
      query,
    );
    const { skip, take } = toSkipTake(query);
    const shown = bundled.slice(Math.max(0, skip - stored), Math.max(0, skip + take - stored));
    return [[...rows.map(fromRow), ...shown], stored + bundled.length];
  }

  /** @throws GatewayError `not_found`, also for the prices of other organisations */
  async get(principal: Principal, id: string): Promise<VisiblePrice> {
    const bundled = bundledVisible().find((price) => price.id === foldId(id));
    if (bundled !== undefined) return bundled;
    const row = isUuid(id) ? await this.store.find(principal.organisationId, id) : null;
    if (row === null) throw new GatewayError('not_found');
    return fromRow(row);
  }
}

function assertOrganisationLevel(principal: Principal): void {
  if (principal.workspaceId === null) return;
  throw new GatewayError('permission_denied', { message: 'Only callers of the whole organisation set prices.' });
}

function fits(price: VisiblePrice, { provider, model, unit, search }: PriceListQuery): boolean {
  const texts = [price.provider, price.model, price.source].map((text) => text.toLowerCase());
  return (
    (search === undefined || texts.some((text) => text.includes(search.toLowerCase()))) &&
    (provider === undefined || provider === price.provider) &&
    (model === undefined || model.toLowerCase() === price.model.toLowerCase()) &&
    (unit === undefined || unitOf(unit) === price.unit)
  );
}

const SORT_VALUES: Readonly<Record<string, (price: VisiblePrice) => string | number>> = {
  effective_from: ({ effectiveFrom }) => effectiveFrom.getTime(),
  provider: ({ provider }) => provider,
  model: ({ model }) => model,
};

/** Sorts bundled prices. They have no creation time, so that order leaves them unchanged. */
function inOrder(prices: readonly VisiblePrice[], { sort }: PriceListQuery): readonly VisiblePrice[] {
  const valueOf = SORT_VALUES[sort.replace(/^-/, '')];
  if (valueOf === undefined) return prices;
  const sign = sort.startsWith('-') ? -1 : 1;
  return [...prices].sort((one, other) => {
    const [a, b] = [valueOf(one), valueOf(other)];
    return a === b ? 0 : a < b ? -sign : sign;
  });
}
