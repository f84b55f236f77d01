// What a caller names is not always what a provider has a price for.
const FOUNDATION_MODEL = /^arn:aws:bedrock:[a-z0-9-]*::foundation-model\/(?<id>.+)$/;
const AZURE_PREFIX = 'cohere.';

/**
 * The names under which a model may have a price, the caller's own first. Bedrock: an ARN of a foundation model, then the
 * model's id, in any region (not in the partitions of China and of governments, which have prices of their own). Azure:
 * `cohere.<deployment>`, then the deployment.
 */
export function pricedNames(provider: string, model: string): readonly string[] {
  if (provider === 'bedrock') {
    const id = FOUNDATION_MODEL.exec(model)?.groups?.['id'];
    return id === undefined ? [model] : [model, id];
  }
  if (provider === 'azure-ai' && model.startsWith(AZURE_PREFIX)) return [model, model.slice(AZURE_PREFIX.length)];
  return [model];
}
