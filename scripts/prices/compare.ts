import type { ProviderSlug } from '../../src/upstream/providers/provider.types.js';
import { DECISIONS, type Decision, IGNORED } from './decisions.js';
import type { SourceModel, SourceName, SourcePrice, SourceProvider } from './source.types.js';

/** A price that both sources have, or that a decision takes from one of them. */
export interface AgreedPrice extends SourcePrice {
  readonly sources: readonly SourceName[];
}

export interface AgreedModel {
  readonly provider: ProviderSlug;
  readonly model: string;
  readonly from?: string;
  readonly prices: readonly AgreedPrice[];
}

/** What a person has to look at. */
export interface Difference {
  readonly provider: ProviderSlug;
  readonly model: string;
  /** `input standard 0`; empty: the model as a whole. */
  readonly price: string;
  readonly modelsDev: bigint | undefined;
  readonly genaiPrices: bigint | undefined;
  readonly what:
    'differs' | 'only in models.dev' | 'only in genai-prices' | 'not understood' | 'without a price of tokens';
  readonly detail?: string;
}

export interface Compared {
  readonly agreed: readonly AgreedModel[];
  readonly differences: readonly Difference[];
}

const BOTH: readonly SourceName[] = ['models.dev', 'genai-prices'];

/** Chats and embeddings in which every price is the same in both sources, or decided; and all the rest. */
export function compareProvider(
  provider: ProviderSlug,
  modelsDev: SourceProvider,
  genaiPrices: SourceProvider,
  decisions: readonly Decision[] = DECISIONS,
): Compared {
  const agreed: AgreedModel[] = [];
  const differences: Difference[] = [];
  const seen = new Set<SourceModel>();
  for (const ours of modelsDev.models) {
    // Models of images and speech are not metered.
    if (ours.facts === undefined) continue;
    const theirs = genaiPrices.find(ours.id);
    if (theirs !== undefined) seen.add(theirs);
    const found = compareModel(provider, ours, theirs, decisions);
    differences.push(...found.differences);
    if (found.agreed !== undefined) agreed.push(found.agreed);
  }
  for (const { id } of genaiPrices.models.filter((model) => !seen.has(model))) {
    differences.push({ ...wholeModel(provider, id), what: 'only in genai-prices' });
  }
  return { agreed, differences };
}

function compareModel(
  provider: ProviderSlug,
  one: SourceModel,
  other: SourceModel | undefined,
  decisions: readonly Decision[],
): { readonly agreed?: AgreedModel; readonly differences: readonly Difference[] } {
  const { id: model } = one;
  if (other === undefined) return { differences: [{ ...wholeModel(provider, model), what: 'only in models.dev' }] };
  const notUnderstood = [...one.notUnderstood, ...other.notUnderstood]
    .filter((price) => !isIgnored(provider, price))
    .map((detail): Difference => ({ ...wholeModel(provider, model), what: 'not understood', detail }));
  const theirs = byKey(soldBy(one, other.prices));
  const ours = byKey(withTiersOf(soldBy(one, one.prices), other.prices));
  const prices: AgreedPrice[] = [];
  const differences: Difference[] = [];
  for (const key of new Set([...ours.keys(), ...theirs.keys()])) {
    const [mine, yours] = [ours.get(key), theirs.get(key)];
    const chosen = choose(provider, model, mine, yours, decisions);
    if (chosen === 'left out') continue;
    if (chosen !== undefined) prices.push(chosen);
    else
      differences.push({
        provider,
        model,
        price: key,
        modelsDev: mine?.price,
        genaiPrices: yours?.price,
        what: mine === undefined ? 'only in genai-prices' : yours === undefined ? 'only in models.dev' : 'differs',
      });
  }
  const isSold = prices.some(({ unit }) => unit === 'input');
  if (differences.length === 0 && !isSold)
    differences.push({ ...wholeModel(provider, model), what: 'without a price of tokens' });
  const all = [...notUnderstood, ...differences];
  if (differences.length > 0 || notUnderstood.some(({ detail = '' }) => countsTokens(detail)))
    return { differences: all };
  return { agreed: { provider, model, from: other.from, prices }, differences: all };
}

function isIgnored(provider: ProviderSlug, price: string): boolean {
  return IGNORED.some((known) => known.price === price && (known.provider ?? provider) === provider);
}

/** Tokens of a kind that the gateway would bill as another kind, and prices that it would not apply in time. */
function countsTokens(detail: string): boolean {
  return /_mtok$|^standard |of day/.test(detail);
}

function choose(
  provider: ProviderSlug,
  model: string,
  one: SourcePrice | undefined,
  other: SourcePrice | undefined,
  decisions: readonly Decision[],
): AgreedPrice | 'left out' | undefined {
  const any = one ?? other;
  if (any === undefined) return undefined;
  if (one?.price === other?.price) return { ...any, sources: BOTH };
  const isAlone = one === undefined || other === undefined;
  const decision = decisions.find(
    (known) =>
      (known.provider ?? provider) === provider &&
      (known.model ?? model) === model &&
      (known.unit ?? any.unit) === any.unit &&
      (known.mode ?? any.mode) === any.mode &&
      (known.tiersOnly !== true || any.minInputTokens > 0) &&
      (known.whereAlone !== true || isAlone),
  );
  if (decision === undefined) return undefined;
  if (decision.take === 'neither') return 'left out';
  const taken = decision.take === 'models.dev' ? one : other;
  return taken === undefined ? 'left out' : { ...taken, sources: [decision.take] };
}

/** A model that writes no tokens sells none: some lists give its output the price of its input. */
function soldBy({ facts }: SourceModel, prices: readonly SourcePrice[]): readonly SourcePrice[] {
  return facts?.maxOutput === 0 ? prices.filter(({ unit }) => unit !== 'output') : prices;
}

/** models.dev says `200000` for "from" and for "above" alike; the other source distinguishes them. */
function withTiersOf(prices: readonly SourcePrice[], others: readonly SourcePrice[]): readonly SourcePrice[] {
  const tiers = new Set(others.map(({ minInputTokens }) => minInputTokens));
  return prices.map((price) => {
    const next = price.minInputTokens + 1;
    return price.minInputTokens > 0 && !tiers.has(price.minInputTokens) && tiers.has(next)
      ? { ...price, minInputTokens: next }
      : price;
  });
}

function byKey(prices: readonly SourcePrice[]): ReadonlyMap<string, SourcePrice> {
  return new Map(prices.map((price) => [`${price.unit} ${price.mode} ${price.minInputTokens}`, price]));
}

function wholeModel(provider: ProviderSlug, model: string): Omit<Difference, 'what'> {
  return { provider, model, price: '', modelsDev: undefined, genaiPrices: undefined };
}
