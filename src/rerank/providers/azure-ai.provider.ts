// Provider P6, rerank: Cohere's v2 contract on Azure. Source: https://learn.microsoft.com/azure/ai-foundry/how-to/deploy-models-cohere-rerank, read 2026-11-21.
import { invalidField } from '../../common/errors/gateway.error.js';
import { AZURE_RERANK_PATH, azureDeploymentName } from '../../upstream/providers/azure-ai.provider.js';
import { estimateCohere } from '../billing/estimates.js';
import type { RemoteRerankProvider } from '../rerank.types.js';
import { fromCohereAnswer, toCohereBody } from './cohere.provider.js';

export const azureAiRerank: RemoteRerankProvider = {
  kind: 'remote',
  slug: 'azure-ai',
  // The models support Cohere's max_tokens_per_doc and priority, but the API offers both for P1 only.
  options: new Set(),
  // Azure documents no limit of its own; the models are Cohere's.
  maxDocuments: 10_000,
  // Deployments have free names, so the generation of the model is unknown: uses the rule of most models.
  estimate: (request) => estimateCohere(request),
  toUpstream: (request) => ({
    method: 'POST',
    path: AZURE_RERANK_PATH,
    body: toCohereBody(request, deploymentOf(request.model)),
  }),
  fromUpstream: fromCohereAnswer,
};

function deploymentOf(model: string): string {
  const deployment = azureDeploymentName(model);
  if (deployment === '') throw invalidField('model', "must have the deployment's model name behind the prefix");
  return deployment;
}
