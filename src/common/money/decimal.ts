const FORM = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Parses a decimal number as an integer of `10^-decimals`: `parseDecimal('0.002', 18)`. Uses no float. Returns
 * undefined for negative numbers, for more decimals than that, and for other text.
 */
export function parseDecimal(text: string, decimals: number): bigint | undefined {
  return scaled(text, decimals, false);
}

/** Like `parseDecimal`, but rounds half up: for lists of programs that calculate with floats. */
export function roundDecimal(text: string, decimals: number): bigint | undefined {
  return scaled(text, decimals, true);
}

/**
 * Writes an amount without trailing zeros: `formatDecimal(2n * 10n ** 15n, 18)` is `0.002`. Not for negative amounts.
 */
export function formatDecimal(value: bigint, decimals: number): string {
  const digits = String(value).padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.?0*$/, '');
}

function scaled(text: string, decimals: number, rounds: boolean): bigint | undefined {
  const parts = FORM.exec(text);
  if (parts === null) return undefined;
  const [, whole = '0', fraction = '', exponent = '0'] = parts;
  const shift = decimals - fraction.length + Number(exponent);
  const digits = BigInt(whole + fraction);
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  if (rounds) return (digits + divisor / 2n) / divisor;
  return digits % divisor === 0n ? digits / divisor : undefined;
}

/**
 * Converts a JSON number to an integer of `10^-decimals`: `toScaled(0.1, 9)` is 100,000,000n. Uses the shortest decimal
 * form, which is what the sender wrote, and no float arithmetic. Returns undefined for negative numbers and for more
 * decimals than that.
 */
export function toScaled(value: number, decimals: number): bigint | undefined {
  return parseDecimal(String(value), decimals);
}

/** The number that an API shows for an integer of `10^-decimals`. */
export function fromScaled(value: bigint, decimals: number): number {
  return value < 0n ? -fromScaled(-value, decimals) : Number(formatDecimal(value, decimals));
}
