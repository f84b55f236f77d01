import type { JsonObject } from '../../../common/json/read.js';
import type { InferenceFacts } from '../dialect.types.js';
import { readStreamOptions, type StreamForm } from '../openai-stream-usage.js';
import { readCount } from '../output-bound.js';
import { readModel, readSwitch } from '../read-facts.js';

export const CHAT_MEMBERS: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'n',
]);

/** OpenAI's own maximum. */
const MAX_CHOICES = 128;

export interface ChatFacts extends InferenceFacts, StreamForm {
  /** Tokens that each choice may have; undefined: the request has no cap. */
  readonly outputCap: number | undefined;
  readonly choices: number;
}

/** Source: https://platform.openai.com/docs/api-reference/chat/create, read 2026-11-26. */
export function readChatFacts(members: JsonObject): ChatFacts {
  const caps = [readCount(members, 'max_tokens'), readCount(members, 'max_completion_tokens')];
  return {
    model: readModel(members),
    isStream: readSwitch(members, 'stream'),
    streamOptions: readStreamOptions(members),
    // Servers differ in which one counts where both are there.
    outputCap: caps.reduce((one, other) => (one === undefined ? other : Math.max(one, other ?? 0)), undefined),
    choices: readCount(members, 'n', MAX_CHOICES) ?? 1,
  };
}
