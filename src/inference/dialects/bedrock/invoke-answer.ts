import { isObject, type JsonObject, numberOrUndefined, stringOrUndefined } from '../../../common/json/read.js';
import type { AnswerFacts } from '../../../gateway/billable-use.js';
import type { Counts } from '../../../usage/units.js';
import { answerFactsIn } from '../answer-facts.js';
import type { AnswerForm } from '../answer-meter.js';
import { readMessagesUsage } from '../anthropic-messages/messages-usage.js';
import { readChatUsage } from '../openai-chat/chat-usage.js';
import { remainder } from '../usage-parts.js';
import { readConverseUsage } from './converse-answer.js';

/** In the last event of every stream, for all models. */
const METRICS = 'amazon-bedrock-invocationMetrics';

/** The answers of all models, each in its own format. */
export const INVOKE_ANSWER: AnswerForm = {
  outputFields: [
    '"text":',
    '"partial_json":',
    '"thinking":',
    '"content":',
    '"reasoning_content":',
    '"arguments":',
    '"generation":',
    '"outputText":',
    '"completion":',
  ],
  endMarks: [new RegExp(`"${METRICS}" *:`)],
  usageFields: ['"usage"', `"${METRICS}"`, '"inputTextTokenCount"', '"prompt_token_count"'],
  endField: '"stop_reason":',
  usageIn: readInvokeUsage,
  factsIn,
};

function readInvokeUsage(message: JsonObject, before: Counts | undefined): Counts | undefined {
  const metrics = message[METRICS];
  if (isObject(metrics)) return withMetrics(metrics, before ?? {});
  const { message: begun, usage, metadata } = message;
  // The output count of a message's first event is a placeholder.
  if (isObject(begun) && isObject(begun['usage'])) return { ...readMessagesUsage(begun['usage']), output: undefined };
  const ofNova = isObject(metadata) ? metadata['usage'] : usage;
  return (
    readChatUsage(usage) ??
    readConverseUsage(ofNova) ??
    readMessagesUsage(usage, before) ??
    readPlain(message) ??
    undefined
  );
}

/** Adds Bedrock's own counts. Its input excludes cached tokens. */
function withMetrics(metrics: JsonObject, before: Counts): Counts {
  const written = numberOrUndefined(metrics['cacheWriteInputTokenCount']);
  return {
    ...before,
    input: numberOrUndefined(metrics['inputTokenCount']) ?? before.input,
    output: numberOrUndefined(metrics['outputTokenCount']) ?? before.output,
    cache_read: numberOrUndefined(metrics['cacheReadInputTokenCount']) ?? before.cache_read,
    cache_write_5m: remainder(written, [before.cache_write_1h]) ?? before.cache_write_5m,
  };
}

/** Reads the usage of Titan and Llama. */
function readPlain(message: JsonObject): Counts | undefined {
  const input = numberOrUndefined(message['inputTextTokenCount'] ?? message['prompt_token_count']);
  const output = numberOrUndefined(message['generation_token_count']) ?? ofResults(message['results']);
  if (input === undefined && output === undefined) return undefined;
  return { input, output };
}

function ofResults(results: unknown): number | undefined {
  if (!Array.isArray(results)) return undefined;
  return results.reduce<number>(
    (sum, each) => sum + (isObject(each) ? (numberOrUndefined(each['tokenCount']) ?? 0) : 0),
    0,
  );
}

function factsIn(message: JsonObject, before: AnswerFacts): AnswerFacts {
  const facts = answerFactsIn(message, before);
  return { ...facts, finishReason: facts.finishReason ?? stringOrUndefined(message['stop_reason']) };
}
