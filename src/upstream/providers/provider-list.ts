import type { AwsCredentialSource } from '../aws/aws-credentials.js';
import type { GoogleTokenSource } from '../google/google-tokens.js';
import { anthropic } from './anthropic.provider.js';
import { azureAi } from './azure-ai.provider.js';
import { azureOpenai } from './azure-openai.provider.js';
import { createBedrockProvider } from './bedrock.provider.js';
import { cohere } from './cohere.provider.js';
import { jina } from './jina.provider.js';
import { local } from './local.provider.js';
import { openaiCompatible } from './openai-compatible.provider.js';
import { openai } from './openai.provider.js';
import { PRESET_PROVIDERS } from './presets.js';
import { pinecone } from './pinecone.provider.js';
import type { Provider } from './provider.types.js';
import { createVertexProvider } from './vertex.provider.js';
import { voyage } from './voyage.provider.js';

/** Injection token of the list of providers. */
export const PROVIDERS = Symbol('PROVIDERS');

/** Services that some providers need besides the virtual key. */
interface ProviderServices {
  readonly awsCredentials: Pick<AwsCredentialSource, 'resolve' | 'forget'>;
  readonly googleTokens: Pick<GoogleTokenSource, 'resolve' | 'forget'>;
}

/** All providers, one line each. Those that are only data are rows of the presets. */
export function createProviders(services: ProviderServices): readonly Provider[] {
  return [
    cohere,
    voyage,
    jina,
    pinecone,
    createBedrockProvider(services.awsCredentials),
    azureAi,
    openai,
    azureOpenai,
    openaiCompatible,
    anthropic,
    createVertexProvider(services.googleTokens),
    ...PRESET_PROVIDERS,
    local,
  ];
}
