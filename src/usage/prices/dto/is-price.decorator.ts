import { ValidateBy, type ValidationArguments } from 'class-validator';
import { formatDecimal, parseDecimal } from '../../../common/money/decimal.js';
import { MAX_PRICE, PRICE_DECIMALS } from '../price.types.js';

const FORM = /^\d{1,12}(?:\.\d{1,18})?$/;
const HIGHEST = formatDecimal(MAX_PRICE, PRICE_DECIMALS);

/** A decimal number in a string, up to the highest price, with up to 18 digits behind the point. */
export function IsPrice(): PropertyDecorator {
  return ValidateBy({
    name: 'isPrice',
    constraints: [FORM],
    validator: {
      validate: (value: unknown) => typeof value === 'string' && FORM.test(value) && isWithinBounds(value),
      defaultMessage: (args?: ValidationArguments) =>
        typeof args?.value === 'number'
          ? '$property must be a string ("0.002"): a JSON number can lose digits on its way'
          : `$property must be a decimal number in a string, at most ${HIGHEST}, with up to ${PRICE_DECIMALS} digits behind the point`,
    },
  });
}

function isWithinBounds(text: string): boolean {
  const price = parseDecimal(text, PRICE_DECIMALS);
  return price !== undefined && price <= MAX_PRICE;
}
