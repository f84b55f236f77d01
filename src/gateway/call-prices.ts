import { Injectable } from '@nestjs/common';
import type { MaybePromise } from '../common/maybe-promise.js';
import { Metrics } from '../telemetry/metrics.js';
import { PriceCatalogue } from '../usage/prices/price-catalogue.js';
import type { Price, PricedUnit } from '../usage/prices/price.types.js';

type Prices = readonly Price[] | undefined;

/** What models cost, and how often that is not known. */
@Injectable()
export class CallPrices {
  constructor(
    private readonly catalogue: PriceCatalogue,
    private readonly metrics: Metrics,
  ) {}

  /** Empty: the model has no price. undefined: the database is away, and the prices were never read. Never rejects. */
  pricesFor(
    organisationId: string,
    provider: string,
    model: string,
    at: Date,
    units: readonly PricedUnit[],
  ): MaybePromise<Prices> {
    const found = this.catalogue.pricesFor(organisationId, provider, model, at, units);
    return found instanceof Promise ? found.catch(() => undefined) : found;
  }

  countMissing(provider: string): void {
    this.metrics.priceMissing.inc({ provider });
  }
}
