import { azureAiRerank } from './providers/azure-ai.provider.js';
import { bedrockRerank } from './providers/bedrock.provider.js';
import { cohereRerank } from './providers/cohere.provider.js';
import { jinaRerank } from './providers/jina.provider.js';
import { localRerank } from './providers/local.provider.js';
import { openaiCompatibleRerank, SAME_RERANK } from './providers/openai-compatible.provider.js';
import { pineconeRerank } from './providers/pinecone.provider.js';
import { voyageRerank } from './providers/voyage.provider.js';
import type { RerankProvider } from './rerank.types.js';

/** All rerank providers, one line each. */
export const RERANK_PROVIDERS: readonly RerankProvider[] = [
  cohereRerank,
  voyageRerank,
  jinaRerank,
  pineconeRerank,
  bedrockRerank,
  azureAiRerank,
  openaiCompatibleRerank,
  ...SAME_RERANK,
  localRerank,
];

export const RERANK_PROVIDERS_BY_SLUG: ReadonlyMap<string, RerankProvider> = new Map(
  RERANK_PROVIDERS.map((provider) => [provider.slug, provider]),
);
