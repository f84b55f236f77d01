import { toErrorEvent } from '../../../common/errors/error-envelope.js';
import { withFirstMember, withMember } from '../../../common/json/scan.js';
import type { UsageEstimate } from '../../../gateway/billable-use.js';
import { AnswerMeter } from '../answer-meter.js';
import type { Dialect, InferenceCall } from '../dialect.types.js';
import { openaiInputBound } from '../openai-input.js';
import { CHAT_MEMBERS, type ChatFacts, readChatFacts } from './chat-facts.js';
import { CHAT_ANSWER } from './chat-answer.js';

export const openaiChat: Dialect<ChatFacts> = {
  slug: 'openai-chat',
  endpoint: 'chat',
  members: CHAT_MEMBERS,
  readFacts: readChatFacts,
  estimate,
  bodyOf,
  toErrorEvent,
  newMeter: ({ facts, hidesReasoning }) => new AnswerMeter(CHAT_ANSWER, { hidesUsage: mustAsk(facts), hidesReasoning }),
};

/** Asks for the usage at the end of a stream, where the caller does not. */
function bodyOf({ facts, bytes }: InferenceCall<ChatFacts>): Buffer {
  if (!mustAsk(facts)) return bytes;
  const options = { ...facts.streamOptions, include_usage: true };
  const change = facts.streamOptions === undefined ? withFirstMember : withMember;
  return change(bytes, 'stream_options', options);
}

function mustAsk({ isStream, streamOptions }: ChatFacts): boolean {
  return isStream && streamOptions?.['include_usage'] !== true;
}

function estimate({ facts, bytes, knownModel }: InferenceCall<ChatFacts>): UsageEstimate {
  const { outputCap, choices, searches } = facts;
  const input = openaiInputBound(bytes, knownModel);
  const most = outputCap ?? knownModel?.maxOutput;
  const output = most === undefined ? undefined : most * choices;
  return { unit: 'output', counts: { input, cache_read: 0, output }, unbounded: unboundedField() };

  function unboundedField(): string | undefined {
    if (searches) return 'web_search_options';
    if (input === undefined) return 'messages';
    return output === undefined ? 'max_completion_tokens' : undefined;
  }
}
