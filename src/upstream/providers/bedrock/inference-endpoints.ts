// Bedrock's endpoints in the formats of OpenAI's and Anthropic's APIs. Sources, read 2026-11-27:
// https://docs.aws.amazon.com/bedrock/latest/userguide/endpoints.html, the API reference of Amazon Bedrock Runtime,
// …/inference-responses-api.html and …/inference-messages-api.html
import { awsEndpoint, bedrockMantleEndpoint } from '../../aws/aws-region.js';
import { awsEncoded } from './aws-path.js';
import type { DialectPath, DialectSlug } from '../provider.types.js';

/**
 * `mantle` has tools that run at AWS, and background calls. `runtime` has guardrails, and inference across regions.
 * `converse` has every model, in its own format.
 */
export const BEDROCK_ENDPOINTS = ['mantle', 'runtime', 'converse'] as const;

export type BedrockEndpoint = (typeof BEDROCK_ENDPOINTS)[number];

interface EndpointOptions {
  readonly bedrock_endpoint?: BedrockEndpoint;
}

const MODEL_PATH = '/model/';
const INFERENCE_PATH = /\/(?:chat\/completions|responses(?:\/\w+)?|messages(?:\/count_tokens)?)$/;
/** At Mantle, these models have another path than all others, including gpt-oss. */
const OPENAI_MODEL = /^openai\.gpt-\d/;

export const BEDROCK_DIALECTS = {
  'openai-chat': (model, options) => unlessConverse(options, `${openaiBase(model, options)}/chat/completions`),
  'openai-responses': (model, options) => unlessConverse(options, `${openaiBase(model, options)}/responses`),
  'anthropic-messages': (_model, options) => unlessConverse(options, '/anthropic/v1/messages'),
  'bedrock-converse': (model, _options, isStream) => `${pathOf(model)}/converse${isStream ? '-stream' : ''}`,
  'bedrock-invoke': (model, _options, isStream) => `${pathOf(model)}/invoke${isStream ? '-with-response-stream' : ''}`,
  'bedrock-token-count': (model) => `${pathOf(model)}/count-tokens`,
} satisfies Partial<Record<DialectSlug, DialectPath<EndpointOptions>>>;

/** With `converse`, chats, responses and messages have no path here and are translated. */
function unlessConverse({ bedrock_endpoint: endpoint }: EndpointOptions, path: string): string | undefined {
  return endpoint === 'converse' ? undefined : path;
}

export function isInferencePath(path: string): boolean {
  return INFERENCE_PATH.test(path);
}

/** Whether a request names its model in the path, as in Bedrock's own API. */
export function isModelPath(path: string): boolean {
  return path.startsWith(MODEL_PATH);
}

function pathOf(model: string): string {
  return MODEL_PATH + awsEncoded(model);
}

export function inferenceEndpoint({ bedrock_endpoint: endpoint = 'mantle' }: EndpointOptions, region: string): URL {
  return endpoint === 'mantle' ? bedrockMantleEndpoint(region) : awsEndpoint('bedrock-runtime', region);
}

/** The service's name in a signature. */
export function signingService({ bedrock_endpoint: endpoint = 'mantle' }: EndpointOptions, path: string): string {
  return endpoint === 'mantle' && isInferencePath(path) ? 'bedrock-mantle' : 'bedrock';
}

function openaiBase(model: string, { bedrock_endpoint: endpoint = 'mantle' }: EndpointOptions): string {
  return endpoint === 'runtime' || OPENAI_MODEL.test(model) ? '/openai/v1' : '/v1';
}
