import { Injectable } from '@nestjs/common';
import type { NanoDollars } from '../../common/money/units.js';
import { Clock } from '../../common/time/clock.js';
import { AppConfig } from '../../config/environment.js';
import {
  inputTokensOf,
  isTokenUnit,
  QUANTITY_UNITS,
  type Quantities,
  type QuantityUnit,
  toQuantitiesJson,
} from '../units.js';
import { highestPrices, figuresAt, isWhollyPriced } from './cost.js';
import { PriceCatalogue } from './price-catalogue.js';
import { modeOfEndpoint } from './price.types.js';

/** Calls whose quantities are known before they are made. */
export interface PlannedUse {
  readonly organisationId: string;
  readonly provider: string;
  readonly model: string;
  readonly endpoint: string | undefined;
  /** `request` is the number of calls; one by default. */
  readonly quantities: Quantities;
}

/**
 * Units that calls may use within their bounds of input and output, without naming them. A reservation includes their
 * prices.
 */
const MAY_USE: readonly QuantityUnit[] = ['cache_write_5m', 'input_audio', 'output_audio', 'output_image'];

/** Computes the highest cost of planned calls. */
@Injectable()
export class EstimatedCosts {
  constructor(
    private readonly catalogue: PriceCatalogue,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {}

  /** The highest cost; undefined when a unit has no price, so that cost limits refuse such calls. */
  async costOf(use: PlannedUse): Promise<NanoDollars | undefined> {
    const { organisationId, provider, model, endpoint, quantities } = use;
    const named = QUANTITY_UNITS.filter((unit) => quantities[unit] !== undefined);
    if (named.length === 0) return 0n;
    const units = QUANTITY_UNITS.filter(
      (unit) => unit === 'request' || named.includes(unit) || (named.some(isTokenUnit) && MAY_USE.includes(unit)),
    );
    const prices = await this.catalogue.pricesFor(organisationId, provider, model, this.clock.now(), units);
    if (!isWhollyPriced({ unit: billedUnit(named), counts: toQuantitiesJson(quantities) }, prices)) {
      return this.config.USAGE_UNPRICED === 'allow' ? 0n : undefined;
    }
    const calls = quantities.request === undefined || quantities.request === 0n ? 1n : quantities.request;
    // Each call is priced in the tier of its own input, which is equal for all calls here.
    const one = { input: (inputTokensOf(quantities) + calls - 1n) / calls };
    const highest = highestPrices(prices, [modeOfEndpoint(endpoint)], one);
    return figuresAt(quantities, highest, Number(calls)).costNano;
  }
}

/** Token units come first: a call that is billed by token may use other units too. */
function billedUnit(named: readonly QuantityUnit[]): QuantityUnit {
  return named.find(isTokenUnit) ?? named.find((unit) => unit !== 'request') ?? 'request';
}
