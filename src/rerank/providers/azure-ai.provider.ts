// Vendor P6, rerank: Cohere's v2 contract on Azure. Source: https://learn.microsoft.com/azure/ai-foundry/how-to/deploy-models-cohere-rerank, read 2026-11-21.
import { AZURE_RERANK_PATH } from '../../upstream/vendors/azure-ai.vendor.js';
import { estimateCohere } from '../billing/cohere-estimate.js';
import type { RemoteRerankProvider } from '../rerank.types.js';
import { fromCohereAnswer, toCohereBody } from './cohere-v2.js';

const VENDOR_PREFIX = 'cohere.';

export const azureAiRerank: RemoteRerankProvider = {
  kind: 'remote',
  slug: 'azure-ai',
  // The models know Cohere's max_tokens_per_doc and priority, but the interface gives both to P1 only.
  options: new Set(),
  // Azure states none of its own; the models are Cohere's.
  maxDocuments: 10_000,
  // Deployments have free names, so which generation of models one has is not known: the rule of most of them.
  estimate: (request) => estimateCohere(request),
  toUpstream: (request) => ({
    method: 'POST',
    path: AZURE_RERANK_PATH,
    body: toCohereBody(request, deploymentName(request.model)),
  }),
  fromUpstream: fromCohereAnswer,
};

/** `cohere.Cohere-rerank-v4.0-pro` → `Cohere-rerank-v4.0-pro`: one prefix goes, in this spelling; the rest is the deployment's name. */
function deploymentName(model: string): string {
  return model.startsWith(VENDOR_PREFIX) ? model.slice(VENDOR_PREFIX.length) : model;
}
