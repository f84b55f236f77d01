import { azureModelNames } from '../upstream/providers/azure-ai.provider.js';
import { bedrockModelNames } from '../upstream/providers/bedrock/model-names.js';
import { localModelNames } from '../upstream/providers/local.provider.js';
import { vertexModelNames } from '../upstream/providers/vertex/model-names.js';
import type { ModelName, ModelNames } from '../upstream/providers/provider.types.js';

const SPELT_IN_SEVERAL_WAYS = ['azure-ai', 'bedrock', 'vertex'] as const;

/** Providers whose models have several names. For all others, the folded name identifies the model. */
const BY_PROVIDER: ReadonlyMap<string | undefined, ModelNames> = new Map([
  ['azure-ai', azureModelNames],
  ['bedrock', bedrockModelNames],
  ['local', localModelNames],
  ['vertex', vertexModelNames],
]);
const NO_ALIASES: readonly ModelName[] = [];

const ANY_REST = '*';
/** Matches the date in a version of a model: `gpt-5.5-2026-04-23`, `claude-sonnet-4-5-20250929`. */
const DATE = /-20\d\d(-?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])$/;
/** Matches the account in an ARN, since a foundation model is the same in every account. */
const ACCOUNT = /^(arn:aws(?:-[a-z]+)*:bedrock:[a-z0-9-]*:)\d{12}(?=:foundation-model\/)/;

/** The one name of a provider's model in policies, groups and the ledger, for every spelling of a caller. */
export function canonicalModel(provider: string | undefined, model: string): string {
  const name = foldModel(model);
  return BY_PROVIDER.get(provider)?.canonical(name) ?? name;
}

/**
 * The names that the ledger may contain for a model of an unknown provider: the name itself, and the canonical names at
 * providers whose models have several names.
 */
export function possibleModels(name: string): readonly { readonly provider?: string; readonly model: string }[] {
  const model = foldModel(name);
  const others = SPELT_IN_SEVERAL_WAYS.map((provider) => ({ provider, model: canonicalModel(provider, name) }));
  return [{ model }, ...others.filter((other) => other.model !== model)];
}

/** Other names of a model that a policy may contain: the ARN of a region (Bedrock), the name with Azure's prefix. */
export function modelAliases(provider: string | undefined, model: string): readonly ModelName[] {
  return BY_PROVIDER.get(provider)?.aliases(foldModel(model)) ?? NO_ALIASES;
}

/** The names under which the model may have a price, in groups: an earlier group takes precedence. */
export function pricedNames(provider: string, model: string): readonly (readonly ModelName[])[] {
  const name = foldModel(model);
  const names = BY_PROVIDER.get(provider);
  if (names === undefined) return withoutDate(name);
  return names.priced?.(name) ?? [[{ text: names.canonical(name), markLength: 0 }, ...names.aliases(name)]];
}

export function isPattern(model: string): boolean {
  return foldModel(model).endsWith(ANY_REST);
}

/** `rerank-*` matches all names with this prefix. A star elsewhere is an ordinary character. */
export function compilePattern(pattern: string): (name: ModelName) => boolean {
  if (!pattern.endsWith(ANY_REST)) return ({ text }) => text === pattern;
  const beginning = pattern.slice(0, -ANY_REST.length);
  return ({ text, markLength }) => beginning.length >= markLength && text.startsWith(beginning);
}

/**
 * Removes the parts that do not identify a model: case, surrounding white space, the account in the ARN of an AWS
 * model.
 */
export function foldModel(name: string): string {
  return name.trim().toLowerCase().replace(ACCOUNT, '$1');
}

/** A dated version has the prices and facts of its model, unless it has its own. */
function withoutDate(name: string): readonly (readonly ModelName[])[] {
  const own = [{ text: name, markLength: 0 }];
  const date = DATE.exec(name);
  return date === null ? [own] : [own, [{ text: name.slice(0, date.index), markLength: 0 }]];
}
