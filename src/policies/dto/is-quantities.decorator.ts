import { ValidateBy } from 'class-validator';
import { applyDecorators } from '@nestjs/common';
import { isObject } from '../../common/json/read.js';
import { AsGiven } from '../../common/validation/bounded-fields.js';
import { QUANTITY_UNITS } from '../../usage/units.js';
import { MAX_AMOUNT } from './usage-limit.dto.js';

/** An object with a whole number for each of some units of usage. */
export function IsQuantities(): PropertyDecorator {
  const hasItsForm = ValidateBy({
    name: 'isQuantities',
    validator: {
      validate: (value: unknown) =>
        isObject(value) && Object.entries(value).every(([unit, figure]) => isIn(unit, figure)),
      defaultMessage: () => `$property must be an object of whole numbers by unit: ${QUANTITY_UNITS.join(', ')}`,
    },
  });
  return applyDecorators(hasItsForm, AsGiven(QUANTITY_UNITS.length));
}

function isIn(unit: string, figure: unknown): boolean {
  const isFigure = Number.isSafeInteger(figure) && typeof figure === 'number' && figure >= 0 && figure <= MAX_AMOUNT;
  return isFigure && QUANTITY_UNITS.some((known) => known === unit);
}
