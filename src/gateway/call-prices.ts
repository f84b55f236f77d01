import { Injectable } from '@nestjs/common';
import type { MaybePromise } from '../common/maybe-promise.js';
import { Metrics } from '../telemetry/metrics.js';
import { PriceCatalogue } from '../usage/prices/price-catalogue.js';
import type { Price, PricedUnit } from '../usage/prices/price.types.js';
import type { Quantities } from '../usage/units.js';
import type { AboveBound } from './call-cost.js';
import type { UsageCounts } from './metered-call.js';

type Prices = readonly Price[] | undefined;

/** What models cost, and the metrics of what calls are charged. */
@Injectable()
export class CallPrices implements UsageCounts {
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

  countCharged(provider: string, quantities: Quantities): void {
    for (const [unit, quantity] of Object.entries(quantities)) {
      this.metrics.usageQuantities.inc({ provider, unit }, Number(quantity));
    }
  }

  countAboveBound(provider: string, result: AboveBound): void {
    this.metrics.usageAboveBound.inc({ provider, result });
  }
}
