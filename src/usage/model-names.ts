import { azureDeploymentName } from '../upstream/vendors/azure-ai.vendor.js';

/** In any region. `partition`: that of China and those of governments are others. */
const FOUNDATION_MODEL = /^arn:(?<partition>aws(?:-[a-z]+)*):bedrock:[a-z0-9-]*::foundation-model\/(?<id>.+)$/;
/** The model is the same in every account. */
const ACCOUNT = /^(arn:aws(?:-[a-z]+)*:bedrock:[a-z0-9-]*:)\d{12}(?=:foundation-model\/)/;
/** Those of China and of governments have prices of their own. */
const PRICED_PARTITION = 'aws';
/** What answers, whatever model is named. */
const LOCAL_MODEL = 'bm25';

/**
 * The one name by which policies, groups and the ledger know a model of a provider, however its caller spells it. More
 * generous than any provider: what is taken here for a spelling of the model, and refused there, costs nothing; the other
 * way round a cap could be evaded.
 */
export function canonicalModel(provider: string | undefined, model: string): string {
  const name = foldModel(model);
  switch (provider) {
    case 'azure-ai':
      return deploymentOf(name);
    case 'bedrock':
      return FOUNDATION_MODEL.exec(name)?.groups?.['id'] ?? name;
    case 'local':
      return LOCAL_MODEL;
    default:
      return name;
  }
}

/** Other names that a policy may have for it: the ARN of a region (Bedrock), the name with Azure's prefix. */
export function modelAliases(provider: string | undefined, model: string): readonly string[] {
  if (provider === 'azure-ai') return [`cohere.${canonicalModel(provider, model)}`];
  const name = foldModel(model);
  return provider === 'bedrock' && FOUNDATION_MODEL.test(name) ? [name] : [];
}

/** The names under which it may have a price, in the order of precedence. */
export function pricedNames(provider: string, model: string): readonly string[] {
  const canonical = canonicalModel(provider, model);
  if (provider !== 'bedrock') return [canonical, ...modelAliases(provider, model)];
  const name = foldModel(model);
  const partition = FOUNDATION_MODEL.exec(name)?.groups?.['partition'];
  return partition === PRICED_PARTITION ? [name, canonical] : [name];
}

/** Without what makes no other model of it: case, white space around it, an account in the ARN of a model of AWS. */
export function foldModel(name: string): string {
  return name.trim().toLowerCase().replace(ACCOUNT, '$1');
}

/** One prefix is taken off before the model is sent. However many there are, it is the same deployment or none. */
function deploymentOf(name: string): string {
  let deployment = name;
  // A loop, since a name may be as long as a body: calls within calls would run out of stack.
  for (let next = azureDeploymentName(name); next !== deployment && next !== ''; next = azureDeploymentName(next)) {
    deployment = next;
  }
  return deployment;
}
