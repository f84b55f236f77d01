import { toErrorEvent } from '../../../common/errors/error-envelope.js';
import type { UsageEstimate } from '../../../gateway/billable-use.js';
import { AnswerMeter } from '../answer-meter.js';
import type { Dialect, InferenceCall } from '../dialect.types.js';
import { openaiHeaders } from '../openai-headers.js';
import { type BoundMembers, readOpenaiInput } from '../openai-input.js';
import { askingForUsage, asksForUsage } from '../openai-stream-usage.js';
import { outputBound, withCap } from '../output-bound.js';
import { CHAT_ANSWER } from './chat-answer.js';
import { CHAT_MEMBERS, type ChatFacts, readChatFacts } from './chat-facts.js';

/** Searches of OpenAI, xAI and OpenRouter add input. Fallback models, as at OpenRouter, have other prices. */
const BOUND_MEMBERS: BoundMembers = {
  unbounded: new Set(['web_search_options', 'search_parameters', 'plugins', 'models']),
  unseen: new Set(),
};

const OLD_CAPS_FIRST = ['max_tokens', 'max_completion_tokens'];
const NEW_CAPS_FIRST = OLD_CAPS_FIRST.toReversed();

export const openaiChat: Dialect<ChatFacts> = {
  slug: 'openai-chat',
  endpoint: 'chat',
  uses: [
    { kind: 'file', name: 'file_id' },
    { kind: 'audio', name: 'audio' },
  ],
  members: CHAT_MEMBERS,
  mayUse: ['cache_write_5m', 'input_audio', 'output_audio', 'output_image'],
  readFacts: readChatFacts,
  estimate,
  headersOf: openaiHeaders,
  withOutputCap: (call, cap) => withCap(call, call.refusesMaxTokens ? NEW_CAPS_FIRST : OLD_CAPS_FIRST, cap),
  bodyOf: ({ facts, bytes }) => askingForUsage(bytes, facts),
  toErrorEvent,
  newMeter: ({ facts, hidesReasoning, reportsCost, isTranslated }) => {
    const hidesUsage = isTranslated !== true && asksForUsage(facts);
    return new AnswerMeter(CHAT_ANSWER, { hidesUsage, hidesReasoning, reportsCost });
  },
};

function estimate({ facts, bytes, knownModel, savedTokens }: InferenceCall<ChatFacts>): UsageEstimate {
  const { bound: input, unbounded } = readOpenaiInput(bytes, BOUND_MEMBERS, knownModel, savedTokens);
  const output = outputBound(facts.outputCap, facts.choices, knownModel);
  return {
    unit: 'output',
    counts: { input: input ?? 0, cache_read: 0, output: output ?? 0 },
    unbounded: unbounded ?? unboundedField(),
  };

  function unboundedField(): string | undefined {
    if (input === undefined) return 'messages';
    return output === undefined ? 'max_completion_tokens' : undefined;
  }
}
