import type { JsonObject } from '../../../common/json/read.js';
import type { InferenceFacts } from '../dialect.types.js';
import { readStreamOptions, type StreamForm } from '../openai-stream-usage.js';
import { readCap, readCount } from '../output-bound.js';
import { readModel, readSwitch } from '../read-facts.js';

/** `n_predict` is llama.cpp's own name. There it takes precedence over the others. */
const CAPS = ['max_tokens', 'max_completion_tokens', 'n_predict'] as const;
export const CHAT_MEMBERS: ReadonlySet<string> = new Set(['model', 'stream', 'stream_options', 'n', ...CAPS]);

/** OpenAI's own maximum. */
const MAX_CHOICES = 128;

export interface ChatFacts extends InferenceFacts, StreamForm {
  /** The most tokens of each choice; undefined without a cap. */
  readonly outputCap: number | undefined;
  readonly choices: number;
}

/** Source: https://platform.openai.com/docs/api-reference/chat/create, read 2026-11-26. */
export function readChatFacts(members: JsonObject): ChatFacts {
  return {
    model: readModel(members),
    isStream: readSwitch(members, 'stream'),
    streamOptions: readStreamOptions(members),
    outputCap: readCap(members, CAPS),
    choices: readCount(members, 'n', MAX_CHOICES) ?? 1,
  };
}
