// List prices of rerank models, collected by hand, and of chats and embeddings, from the snapshot. A provider may charge
// a customer other prices, so the prices of an organisation and of the operator take precedence.
//
// Left out, so that a call is "without a price" rather than wrongly priced:
// - pinecone, all models: its price page could not be read (other lists state 0.002 per request).
// - jina, all but v3: lists state 0.02 per million tokens for the older models. The provider now has one price of about
//   0.05 for all; accounts from before May 2025 keep the older one.
// - rerank-english-v2.0 and rerank-multilingual-v2.0: sources state 0.001 and 0.002; shut down in April 2025.
// - rerank-1 and rerank-lite-1 of Voyage: only in a list with an uncertain unit.
// - every deployment on Azure with another name than its model's: it may be any model.
// Cohere's own page has no price per search any more. An older list has 0.002 for rerank-v4.0-pro, newer ones 0.0025.
import { parseDecimal } from '../../common/money/decimal.js';
import type { ProviderSlug } from '../../upstream/providers/provider.types.js';
import { withResoldPrices } from '../snapshot/resold.js';
import { readSnapshotPrices } from '../snapshot/snapshot.js';
import { type BundledPrice, PRICE_DECIMALS, type PricedUnit } from './price.types.js';

interface Row {
  readonly id: string;
  readonly provider: ProviderSlug;
  readonly model: string;
  readonly unit: PricedUnit;
  /** US dollars for one unit. */
  readonly price: string;
  readonly from?: string;
  readonly source: string;
  readonly readOn: string;
}

const LITELLM = 'https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json';
const PORTKEY_COHERE = 'https://github.com/Portkey-AI/models/blob/main/pricing/cohere.json';
const PUTER = 'https://developer.puter.com/tutorials/cohere-api-pricing/';
const BIFROST = 'https://www.getmaxim.ai/bifrost/llm-cost-calculator/provider';
const PORTKEY_JINA = 'https://github.com/Portkey-AI/models/blob/main/pricing/jina.json';

const SINCE = '2026-01-01';
const GENERATION_5 = '2026-11-03';
const readOn = '2026-11-21';

const cohere = { provider: 'cohere', unit: 'search_unit', readOn } as const;
const byToken = { unit: 'input', readOn } as const;
const bedrock = { provider: 'bedrock', unit: 'search_unit', source: LITELLM, readOn } as const;
const azure = { provider: 'azure-ai', unit: 'search_unit', source: LITELLM, readOn } as const;

// Ids never change and are never reused, since the ledger refers to them. A new price is a new row with its own date.
// prettier-ignore
const ROWS: readonly Row[] = [
  { ...cohere, id: 'd9fafbff-3fbd-474f-a8ec-a7b691610bed', model: 'rerank-v3.5', price: '0.002', source: LITELLM },
  { ...cohere, id: '6dbb9a5c-84a6-4e67-a495-634c5151871b', model: 'rerank-english-v3.0', price: '0.002', source: LITELLM },
  { ...cohere, id: '98d17a7e-d6cf-467d-9e9d-9d2956536887', model: 'rerank-multilingual-v3.0', price: '0.002', source: LITELLM },
  { ...cohere, id: '68e9cb84-45e7-41fa-abc9-5e32fb8b02a6', model: 'rerank-v4.0-fast', price: '0.002', source: PORTKEY_COHERE },
  { ...cohere, id: '8f9291f0-80e7-4db6-b8b4-cbd6310d651e', model: 'rerank-v4.0-pro', price: '0.0025', source: PUTER },
  { ...byToken, id: '03d37899-82da-4e49-ae2e-d208b2526aa4', provider: 'cohere', model: 'rerank-v5.0-fast', price: '0.00000002', from: GENERATION_5, source: 'https://openrouter.ai/models/cohere/rerank-5-fast-20261028' },
  { ...byToken, id: 'f41f25c2-54fc-4514-a734-5ad9e972d66a', provider: 'cohere', model: 'rerank-v5.0-pro', price: '0.00000005', from: GENERATION_5, source: `${BIFROST}/cohere/model/rerank-v5.0-pro` },
  { ...byToken, id: '2549fdec-0fe3-4192-beef-2691ddbdccd6', provider: 'voyage', model: 'rerank-2.5', price: '0.00000005', source: LITELLM },
  { ...byToken, id: '677f5b0e-bc50-4451-ab7e-dbdbc2383707', provider: 'voyage', model: 'rerank-2.5-lite', price: '0.00000002', source: LITELLM },
  { ...byToken, id: '7b4dee1d-87ac-40a5-a0cb-222410cf5dcb', provider: 'voyage', model: 'rerank-2', price: '0.00000005', source: LITELLM },
  { ...byToken, id: '5a10d460-56d1-42f7-9fc6-d40bbc533650', provider: 'voyage', model: 'rerank-2-lite', price: '0.00000002', source: LITELLM },
  { ...byToken, id: 'ad335795-52fb-4219-be00-f032e1f5f456', provider: 'voyage', model: 'rerank-3', price: '0.00000005', source: `${BIFROST}/voyage/model/rerank-3` },
  { ...byToken, id: 'c0d25f1c-fce1-4feb-8857-0cbe844c3e79', provider: 'voyage', model: 'rerank-3-lite', price: '0.00000002', source: `${BIFROST}/voyage/model/rerank-3-lite` },
  { ...byToken, id: '4b460409-04bc-4073-b869-7ebdbe9d7823', provider: 'jina', model: 'jina-reranker-v3', price: '0.00000005', source: PORTKEY_JINA },
  { ...bedrock, id: 'd8f02094-55fa-4d8a-a9ba-21b453babee1', model: 'cohere.rerank-v3-5:0', price: '0.002' },
  { ...bedrock, id: '84a86f97-24a7-469f-b4ab-6ebcb1a9ba40', model: 'amazon.rerank-v1:0', price: '0.001' },
  // Deployments that have the name of their model.
  { ...azure, id: 'af837382-da1a-43e4-acc9-8f36f50e8b01', model: 'Cohere-rerank-v3.5', price: '0.002' },
  { ...azure, id: 'f27c8ef1-7256-4ff9-9553-7803fd2cca94', model: 'Cohere-rerank-v4.0-fast', price: '0.002' },
  { ...azure, id: '45b42671-3e2d-4b9c-bccb-9e44af9bcc49', model: 'Cohere-rerank-v4.0-pro', price: '0.0025' },
  // The built-in reranker is free of charge.
  { id: '5a958044-0807-4505-8448-dc505eb365d3', provider: 'local', model: '*', unit: 'request', price: '0', source: 'built in', readOn },
];

const READ_BY_HAND = ROWS.map(({ price, from = SINCE, ...row }): BundledPrice => ({
  ...row,
  mode: 'standard',
  minInputTokens: 0,
  price: toAtto(price),
  effectiveFrom: new Date(`${from}T00:00:00Z`),
}));

let known: readonly BundledPrice[] | undefined;

/** All bundled prices. They are read at the first use. */
export function bundledPrices(): readonly BundledPrice[] {
  known ??= [...READ_BY_HAND, ...withResoldPrices(readSnapshotPrices())];
  return known;
}

function toAtto(text: string): bigint {
  const price = parseDecimal(text, PRICE_DECIMALS);
  if (price === undefined) throw new Error('a bundled price is not a decimal number');
  return price;
}
