import { isObject, type JsonObject } from '../../common/json/read.js';
import { roundDecimal } from '../../common/money/decimal.js';
import type { NanoDollars } from '../../common/money/units.js';

/** Decimal places of a nano-dollar. */
const NANO_DECIMALS = 9;

/**
 * The cost that an answer, or the end of a stream, reports; undefined when it reports none. With the caller's own key
 * (`is_byok`), the cost is OpenRouter's fee alone, and the bill of the provider behind it is added. Otherwise the cost
 * contains that bill.
 * Source: https://openrouter.ai/docs/use-cases/usage-accounting, read 2026-11-28.
 */
export function reportedCost(message: JsonObject): NanoDollars | undefined {
  for (const whole of [message, message['response'], message['message']]) {
    const usage = isObject(whole) ? whole['usage'] : undefined;
    const cost = isObject(usage) ? costIn(usage) : undefined;
    if (cost !== undefined) return cost;
  }
  return undefined;
}

function costIn({ cost, is_byok: hasOwnKey, cost_details: details }: JsonObject): NanoDollars | undefined {
  const charged = nanoDollars(cost);
  if (hasOwnKey !== true || charged === undefined) return charged;
  const behind = nanoDollars(isObject(details) ? details['upstream_inference_cost'] : undefined);
  return behind === undefined ? undefined : charged + behind;
}

/** Converts the decimal digits of the number, which are exact for at least fifteen digits. */
function nanoDollars(figure: unknown): NanoDollars | undefined {
  return typeof figure === 'number' ? roundDecimal(String(figure), NANO_DECIMALS) : undefined;
}
