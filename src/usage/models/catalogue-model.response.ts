import { formatDecimal } from '../../common/money/decimal.js';
import { type Price, PRICE_DECIMALS } from '../prices/price.types.js';
import type { KnownModel } from '../snapshot/model-rows.js';

export class CatalogueModelPriceResponse {
  /** Id of the price, which says where it is from. */
  readonly price_id: string;
  /** What is priced, such as `input` or `output`: one token, unless its name says otherwise. */
  readonly unit: string;
  /** US dollars for one unit, a decimal number in a string. */
  readonly price: string;
}

export class CatalogueModelResponse {
  readonly object: 'catalogue-model';
  /** The provider that serves the model. */
  readonly provider: string;
  /** The name by which the provider knows the model. */
  readonly model: string;
  /** Tokens that one request can have at most; of a reranker the query with one document. */
  readonly context_window: number;
  /** Tokens that one answer can have at most; 0: the model writes none. */
  readonly max_output_tokens: number;
  /** What the model reads: `text`, `image`, `audio`, `video`, `pdf`. */
  readonly input_modalities: string[];
  /** What the model writes; empty: it only scores or embeds. */
  readonly output_modalities: string[];
  /** Where these facts were read. */
  readonly source: string;
  /** The day on which they were read, as `2026-11-21`. */
  readonly read_on: string;
  /**
   * What the model costs the organisation now, in the mode `standard` and its lowest tier; empty: it has no price.
   * `GET /v1/prices` has the other modes and tiers.
   */
  readonly prices: CatalogueModelPriceResponse[];
}

export class CatalogueModelListResponse {
  readonly object: 'list';
  readonly data: CatalogueModelResponse[];
  readonly total: number;
}

export function toCatalogueModelResponse(
  { provider, model, facts }: KnownModel,
  prices: readonly Price[],
): CatalogueModelResponse {
  return {
    object: 'catalogue-model',
    provider,
    model,
    context_window: facts.contextWindow,
    max_output_tokens: facts.maxOutput,
    input_modalities: [...facts.inputModalities],
    output_modalities: [...facts.outputModalities],
    source: facts.source,
    read_on: facts.readOn,
    prices: prices
      .filter(({ mode, minInputTokens }) => mode === 'standard' && minInputTokens === 0)
      .map(({ id, unit, price }) => ({ price_id: id, unit, price: formatDecimal(price, PRICE_DECIMALS) })),
  };
}
