import { invalidField } from '../../../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../../../common/json/read.js';
import type { InferenceFacts } from '../dialect.types.js';
import { readModel, readSwitch } from '../read-facts.js';

export const CHAT_MEMBERS: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'web_search_options',
]);

/** OpenAI's own maximum. */
const MAX_CHOICES = 128;

export interface ChatFacts extends InferenceFacts {
  /** undefined: not there; null counts as none. */
  readonly streamOptions: JsonObject | null | undefined;
  /** Tokens that each choice may have; undefined: the request has no cap. */
  readonly outputCap: number | undefined;
  readonly choices: number;
  /** Searches add input whose size is not known before. */
  readonly searches: boolean;
}

/** Source: https://platform.openai.com/docs/api-reference/chat/create, read 2026-11-26. */
export function readChatFacts(members: JsonObject): ChatFacts {
  const options = members['stream_options'];
  if (options !== undefined && options !== null && !isObject(options))
    throw invalidField('stream_options', 'must be an object');
  const caps = [readCount(members, 'max_tokens'), readCount(members, 'max_completion_tokens')];
  return {
    model: readModel(members),
    isStream: readSwitch(members, 'stream'),
    streamOptions: options,
    // Servers differ in which one counts where both are there.
    outputCap: caps.reduce((one, other) => (one === undefined ? other : Math.max(one, other ?? 0)), undefined),
    choices: readCount(members, 'n', MAX_CHOICES) ?? 1,
    searches: (members['web_search_options'] ?? null) !== null,
  };
}

function readCount(members: JsonObject, name: string, max = Number.MAX_SAFE_INTEGER): number | undefined {
  const value = members[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw invalidField(
    name,
    max === Number.MAX_SAFE_INTEGER ? 'must be a whole number above 0' : `must be between 1 and ${max}`,
  );
}
