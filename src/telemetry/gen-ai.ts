// Names of OpenTelemetry's conventions for generative AI (https://github.com/open-telemetry/semantic-conventions-genai), read 2026-11-27.

/** Well-known values of `gen_ai.provider.name`, and other established ones. Other providers use their slug. */
const PROVIDER_NAMES: ReadonlyMap<string, string> = new Map([
  ['azure-openai', 'azure.ai.openai'],
  ['azure-ai', 'azure.ai.inference'],
  ['bedrock', 'aws.bedrock'],
  ['gemini', 'gcp.gemini'],
  ['vertex', 'gcp.vertex_ai'],
  ['mistral', 'mistral_ai'],
  ['voyage', 'voyageai'],
  ['xai', 'x_ai'],
]);

/** Well-known values of `gen_ai.operation.name`, by the endpoint of policies. Others keep their name. */
const OPERATION_NAMES: ReadonlyMap<string, string> = new Map([
  ['responses', 'chat'],
  ['messages', 'chat'],
  ['completions', 'text_completion'],
]);

export function genAiProvider(slug: string): string {
  return PROVIDER_NAMES.get(slug) ?? slug;
}

export function genAiOperation(operation: string): string {
  return OPERATION_NAMES.get(operation) ?? operation;
}

/** What is known of an answer of a model. Never its content. */
export interface ModelAnswer {
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly finishReason: string | undefined;
  /** Tokens, with those that a cache had: the conventions count them so. */
  readonly inputTokens: number | undefined;
  readonly cacheReadTokens: number | undefined;
  readonly cacheWriteTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** From the first attempt; of a stream. */
  readonly firstTokenMs: number | undefined;
}
