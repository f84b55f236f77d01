// Bedrock's endpoints in the forms of OpenAI's and Anthropic's APIs. Sources, read 2026-11-27:
// https://docs.aws.amazon.com/bedrock/latest/userguide/endpoints.html, …/inference-responses-api.html and …/inference-messages-api.html
import { awsEndpoint, bedrockMantleEndpoint } from '../../aws/aws-region.js';
import type { DialectSlug } from '../provider.types.js';

/** `mantle` has tools that run at AWS and background calls; `runtime` has guardrails and inference across regions. */
export const BEDROCK_ENDPOINTS = ['mantle', 'runtime'] as const;

export type BedrockEndpoint = (typeof BEDROCK_ENDPOINTS)[number];

interface EndpointOptions {
  readonly bedrock_endpoint?: BedrockEndpoint;
}

const INFERENCE_PATH = /\/(?:chat\/completions|responses(?:\/\w+)?|messages(?:\/count_tokens)?)$/;
/** At Mantle, these models have another path than all others, gpt-oss included. */
const OPENAI_MODEL = /^openai\.gpt-\d/;

export const BEDROCK_DIALECTS = {
  'openai-chat': (model: string, options: EndpointOptions) => `${openaiBase(model, options)}/chat/completions`,
  'openai-responses': (model: string, options: EndpointOptions) => `${openaiBase(model, options)}/responses`,
  'anthropic-messages': () => '/anthropic/v1/messages',
} satisfies Partial<Record<DialectSlug, (model: string, options: EndpointOptions) => string>>;

export function isInferencePath(path: string): boolean {
  return INFERENCE_PATH.test(path);
}

export function inferenceEndpoint({ bedrock_endpoint: endpoint = 'mantle' }: EndpointOptions, region: string): URL {
  return endpoint === 'mantle' ? bedrockMantleEndpoint(region) : awsEndpoint('bedrock-runtime', region);
}

/** The name of the service in a signature. */
export function signingService({ bedrock_endpoint: endpoint = 'mantle' }: EndpointOptions, path: string): string {
  return endpoint === 'mantle' && isInferencePath(path) ? 'bedrock-mantle' : 'bedrock';
}

function openaiBase(model: string, { bedrock_endpoint: endpoint = 'mantle' }: EndpointOptions): string {
  return endpoint === 'runtime' || OPENAI_MODEL.test(model) ? '/openai/v1' : '/v1';
}
