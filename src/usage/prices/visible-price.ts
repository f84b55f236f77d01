import { parseDecimal } from '../../common/money/decimal.js';
import { bundledPrices } from './bundled-prices.js';
import type { PriceRow } from './price.entity.js';
import { type BundledPrice, type Price, PRICE_DECIMALS, type UnitSpelling, unitOf } from './price.types.js';

/** A price with its origin. */
export interface VisiblePrice extends Price {
  /** null for a price of all organisations. */
  readonly organisationId: string | null;
  /** The spelling with which the price was set. */
  readonly unitSpelling: UnitSpelling;
  readonly source: string;
  /** null for a bundled price. */
  readonly createdAt: Date | null;
}

let known: readonly VisiblePrice[] | undefined;

/** The bundled prices, always as the same list. */
export function bundledVisible(): readonly VisiblePrice[] {
  known ??= bundledPrices().map(fromBundled);
  return known;
}

export function fromRow(row: PriceRow): VisiblePrice {
  const { id, organisationId, provider, model, unit: unitSpelling, effectiveFrom, source, createdAt } = row;
  const { mode, minInputTokens } = row;
  const price = parseDecimal(row.price, PRICE_DECIMALS);
  if (price === undefined) throw new Error(`price ${id} is not a decimal number`);
  const unit = unitOf(unitSpelling);
  const priced = { provider, model, unit, unitSpelling, mode, minInputTokens, price };
  return { id, organisationId, ...priced, effectiveFrom, source, createdAt };
}

function fromBundled({ readOn, ...price }: BundledPrice): VisiblePrice {
  return {
    ...price,
    unitSpelling: price.unit,
    source: `${price.source} (read ${readOn})`,
    organisationId: null,
    createdAt: null,
  };
}
