import { isObject, type JsonObject, numberOrUndefined, stringOrUndefined } from '../../../common/json/read.js';
import type { AnswerFacts } from '../../../gateway/billable-use.js';
import type { PriceMode } from '../../../usage/prices/price.types.js';
import type { Counts } from '../../../usage/units.js';
import type { AnswerForm } from '../answer-meter.js';
import { remainder } from '../usage-parts.js';
import { servedModeOf } from './bedrock-modes.js';

/**
 * Reads whole answers, and events as `{"contentBlockDelta": {…}}`. Source: the API reference of ConverseStream, read
 * 2026-11-28.
 */
export const CONVERSE_ANSWER: AnswerForm = {
  outputFields: ['"text":', '"input":'],
  endMarks: [/"messageStop" *:/],
  endField: '"stopReason":',
  usageIn: (message) => readConverseUsage(bodyOf(message)['usage']),
  factsIn,
  modeIn: (message): PriceMode | undefined => servedModeOf(bodyOf(message)),
};

/** Bedrock's input count excludes cached tokens. */
export function readConverseUsage(usage: unknown): Counts | undefined {
  if (!isObject(usage)) return undefined;
  const input = numberOrUndefined(usage['inputTokens']);
  const output = numberOrUndefined(usage['outputTokens']);
  if (input === undefined && output === undefined) return undefined;
  const long = longWrites(usage['cacheDetails']);
  return {
    input,
    output,
    cache_read: numberOrUndefined(usage['cacheReadInputTokens']),
    cache_write_5m: remainder(numberOrUndefined(usage['cacheWriteInputTokens']), [long]),
    cache_write_1h: long,
  };
}

/** The tokens that were written to caches of one hour. */
function longWrites(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const long = details.filter((each) => isObject(each) && each['ttl'] === '1h');
  if (long.length === 0) return undefined;
  return long.reduce<number>((sum, each) => sum + (numberOrUndefined(each['inputTokens']) ?? 0), 0);
}

function factsIn(message: JsonObject, before: AnswerFacts): AnswerFacts {
  const { messageStop: stop } = message;
  const reason = isObject(stop) ? stop['stopReason'] : message['stopReason'];
  return { ...before, finishReason: stringOrUndefined(reason) ?? before.finishReason };
}

/** A stream has its usage in the event `metadata`, its last one. */
function bodyOf(message: JsonObject): JsonObject {
  return isObject(message['metadata']) ? message['metadata'] : message;
}
