import { formatDecimal } from '../../common/money/decimal.js';
import { toUnixSeconds } from '../../common/time/unix-time.js';
import { PRICE_DECIMALS } from './price.types.js';
import type { VisiblePrice } from './visible-price.js';

export class CreatedPriceResponse {
  readonly id: string;
  readonly object: 'price';
}

export class PriceResponse {
  readonly id: string;
  readonly object: 'price';
  /** null: the operator's, or one that comes with the gateway; for every organisation. */
  readonly organisation_id: string | null;
  /** The provider of the model. */
  readonly provider: string;
  /** With `*` at its end, the beginning of names. */
  readonly model: string;
  /** The unit, spelled as it was set: `input` and `input_token` are the same, and so are `output` and `output_token`. */
  readonly unit: string;
  /** How the call is served: `standard`, `batch`, `flex`, `priority`, `fast` or `ultrafast`. */
  readonly mode: string;
  /** The price counts for calls with at least so many input tokens. */
  readonly min_input_tokens: number;
  /** US dollars for one unit, a decimal number in a string. */
  readonly price: string;
  /** Unix seconds. */
  readonly effective_from: number;
  /** `api`, the list that it was imported from, or where a price that comes with the gateway was read. */
  readonly source: string;
  /** Unix seconds; null: it comes with the gateway. */
  readonly created_at: number | null;
}

export class PriceListResponse {
  readonly object: 'list';
  readonly data: PriceResponse[];
  readonly total: number;
}

export function toPriceResponse(price: VisiblePrice): PriceResponse {
  return {
    id: price.id,
    object: 'price',
    organisation_id: price.organisationId,
    provider: price.provider,
    model: price.model,
    unit: price.unitSpelling,
    mode: price.mode,
    min_input_tokens: price.minInputTokens,
    price: formatDecimal(price.price, PRICE_DECIMALS),
    effective_from: toUnixSeconds(price.effectiveFrom),
    source: price.source,
    created_at: toUnixSeconds(price.createdAt),
  };
}
