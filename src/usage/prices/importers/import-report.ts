import { formatDecimal } from '../../../common/money/decimal.js';
import { PRICE_DECIMALS } from '../price.types.js';
import type { ImportOutcome } from './import-prices.js';
import type { ComparedPrice } from './price-list-diff.js';

/** The result of an import, or the reasons why it was refused, one per line. */
export function reportLines({
  changes,
  vanished,
  unchanged,
  leftOut,
  objections,
  isWritten,
}: ImportOutcome): readonly string[] {
  return [
    ...changes.map(({ before, after }) =>
      before === undefined
        ? `+ ${labelOf(after)}: ${amountOf(after)}`
        : `~ ${labelOf(after)}: ${amountOf(before)} -> ${amountOf(after)}`,
    ),
    ...vanished.map((price) => `- ${labelOf(price)}: has no price in the list any more; stays at ${amountOf(price)}`),
    ...leftOut.map(({ model, reason }) => `? ${model}: left out, ${reason}`),
    ...objections.map((objection) => `! ${objection}`),
    isWritten
      ? `${changes.length} prices written, ${unchanged} unchanged`
      : 'Nothing written. Look at the lines with !, and repeat with --accept when they are right.',
  ];
}

function labelOf({ provider, model, unit }: ComparedPrice): string {
  return `${provider} ${model} (${unit})`;
}

function amountOf({ price }: ComparedPrice): string {
  return formatDecimal(price, PRICE_DECIMALS);
}
