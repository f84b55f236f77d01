import { azureModelNames } from '../upstream/vendors/azure-ai.vendor.js';
import { bedrockModelNames } from '../upstream/vendors/bedrock-model-names.js';
import { localModelNames } from '../upstream/vendors/local.vendor.js';
import type { ModelNames } from '../upstream/vendors/vendor.types.js';

/** Providers whose models have several names. With all others, a model is what its folded name says. */
const BY_PROVIDER: ReadonlyMap<string | undefined, ModelNames> = new Map([
  ['azure-ai', azureModelNames],
  ['bedrock', bedrockModelNames],
  ['local', localModelNames],
]);
const ONE_NAME: ModelNames = { canonical: (name) => name, aliases: () => [] };

/** The model is the same in every account. */
const ACCOUNT = /^(arn:aws(?:-[a-z]+)*:bedrock:[a-z0-9-]*:)\d{12}(?=:foundation-model\/)/;

/** The one name by which policies, groups and the ledger know a model of a provider, however its caller spells it. */
export function canonicalModel(provider: string | undefined, model: string): string {
  return namesOf(provider).canonical(foldModel(model));
}

/** Other names that a policy may have for it: the ARN of a region (Bedrock), the name with Azure's prefix. */
export function modelAliases(provider: string | undefined, model: string): readonly string[] {
  return namesOf(provider).aliases(foldModel(model));
}

/** The names under which it may have a price, in the order of precedence. */
export function pricedNames(provider: string, model: string): readonly string[] {
  const names = namesOf(provider);
  const name = foldModel(model);
  return names.priced?.(name) ?? [names.canonical(name), ...names.aliases(name)];
}

/** Without what makes no other model of it: case, white space around it, an account in the ARN of a model of AWS. */
export function foldModel(name: string): string {
  return name.trim().toLowerCase().replace(ACCOUNT, '$1');
}

function namesOf(provider: string | undefined): ModelNames {
  return BY_PROVIDER.get(provider) ?? ONE_NAME;
}
