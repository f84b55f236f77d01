import type { CreatePriceRequest } from '../api/types.gen';

type Unit = CreatePriceRequest['unit'];

/** What can be priced, in words. The older spellings are the same units, and left out. */
export const UNITS = {
  input: 'Input tokens',
  output: 'Output tokens',
  cache_read: 'Tokens read from a cache',
  cache_write_5m: 'Tokens written to a cache for 5 minutes',
  cache_write_1h: 'Tokens written to a cache for an hour',
  input_audio: 'Audio tokens of the input',
  output_audio: 'Audio tokens of the output',
  input_image: 'Image tokens of the input',
  output_image: 'Image tokens of the output',
  training: 'Trained tokens',
  search_unit: 'Search units',
  request: 'Requests',
  web_search: 'Web searches',
  audio_second: 'Seconds of audio',
  image: 'Images',
} as const satisfies Partial<Record<Unit, string>>;
export type PricedUnit = keyof typeof UNITS;

/** Prices of tokens are written for a million of them: those of one have too many zeros to read. */
const MILLION_DIGITS = 6;

export function isPricedUnit(text: string): text is PricedUnit {
  return text in UNITS;
}

export function isOfTokens(unit: string): boolean {
  return isPricedUnit(unit) ? /token/i.test(UNITS[unit]) : unit.endsWith('_token');
}

/** A price as people compare it: `$0.15 per million`, `$0.002 each`. @param price of one unit, a decimal number */
export function priceInWords(unit: string, price: string): string {
  return isOfTokens(unit) ? `$${withCents(shifted(price, MILLION_DIGITS))} per million` : `$${withCents(price)} each`;
}

/** The price of one token from that of a million. */
export function perToken(perMillion: string): string {
  return shifted(perMillion, -MILLION_DIGITS);
}

/** Moves the point of a decimal number, exactly. @param by digits to the right */
function shifted(decimal: string, by: number): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  const zeros = '0'.repeat(Math.abs(by));
  const digits = by >= 0 ? whole + fraction + zeros : zeros + whole + fraction;
  const point = whole.length + by + (by >= 0 ? 0 : zeros.length);
  const before = digits.slice(0, point).replace(/^0+(?=\d)/, '');
  const after = digits.slice(point).replace(/0+$/, '');
  return after === '' ? before || '0' : `${before || '0'}.${after}`;
}

function withCents(decimal: string): string {
  const [whole = '', fraction = ''] = shifted(decimal, 0).split('.');
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction.padEnd(2, '0')}`;
}
