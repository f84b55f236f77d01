import { formatDecimal, parseDecimal } from '../../common/money/decimal.js';
import { PROVIDER_SLUGS } from '../../upstream/providers/provider.types.js';
import { type BundledPrice, PRICE_DECIMALS, PRICE_MODES, PRICED_UNITS } from '../prices/price.types.js';
import { formatTable, oneOf, parseTable, remembering, wholeNumber } from './table.js';

const NAMES = [
  'id',
  'provider',
  'model',
  'unit',
  'mode',
  'min_input_tokens',
  'price',
  'from',
  'until',
  'source',
  'read',
];
const NEVER = '';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @throws Error for an invalid row */
export function parsePriceRows(text: string): readonly BundledPrice[] {
  return parseTable(NAMES, text).map(readRow);
}

export function formatPriceRows(prices: readonly BundledPrice[]): string {
  const rows = prices.map((price) => [
    price.id,
    price.provider,
    price.model,
    price.unit,
    price.mode,
    price.minInputTokens,
    formatDecimal(price.price, PRICE_DECIMALS),
    dayOf(price.effectiveFrom),
    price.effectiveUntil === undefined ? NEVER : dayOf(price.effectiveUntil),
    price.source,
    price.readOn,
  ]);
  return formatTable(NAMES, rows);
}

function readRow(cells: readonly string[]): BundledPrice {
  const [id = '', provider = '', model = '', unit = '', mode = '', tier = '', price = '', from = ''] = cells;
  const [until = '', source = '', readOn = ''] = cells.slice(8);
  if (!UUID.test(id) || model === '' || source === '') throw new Error(`a row of the snapshot is not whole: ${id}`);
  return {
    id,
    provider: oneOf(PROVIDER_SLUGS, provider),
    model,
    unit: oneOf(PRICED_UNITS, unit),
    mode: oneOf(PRICE_MODES, mode),
    minInputTokens: wholeNumber(tier),
    price: attoOf(price),
    effectiveFrom: midnight(from),
    effectiveUntil: until === NEVER ? undefined : midnight(until),
    source,
    readOn,
  };
}

const attoOf = remembering((text: string): bigint => {
  const price = parseDecimal(text, PRICE_DECIMALS);
  if (price === undefined) throw new Error(`a price of the snapshot is not a decimal number: ${text}`);
  return price;
});

const midnight = remembering((day: string): Date => {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) throw new Error(`a row of the snapshot has no day: ${day}`);
  return date;
});

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
