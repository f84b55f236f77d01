const FORM = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

/**
 * A number of JSON as an integer of `10^-decimals`: `toScaled(0.1, 9)` is 100,000,000n. By its shortest decimal form, the one
 * that its sender wrote, so that no float arithmetic comes in. undefined: negative, or with more decimals than that.
 */
export function toScaled(value: number, decimals: number): bigint | undefined {
  const parts = FORM.exec(String(value));
  if (parts === null) return undefined;
  const [, whole = '0', fraction = '', exponent = '0'] = parts;
  const shift = decimals - fraction.length + Number(exponent);
  const digits = BigInt(whole + fraction);
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return digits % divisor === 0n ? digits / divisor : undefined;
}

/** The number that an API shows for an integer of `10^-decimals`. */
export function fromScaled(value: bigint, decimals: number): number {
  const sign = value < 0n ? '-' : '';
  const digits = String(value < 0n ? -value : value).padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return Number(`${sign}${digits.slice(0, point)}.${digits.slice(point)}`);
}
