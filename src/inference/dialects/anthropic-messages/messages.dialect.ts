import type { IncomingHttpHeaders } from 'node:http';
import { invalidField } from '../../../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../../../common/json/read.js';
import type { UsageEstimate } from '../../../gateway/billable-use.js';
import type { ObjectReference } from '../../../gateway/relay/relay-route.js';
import { ANTHROPIC_VERSION } from '../../../upstream/providers/anthropic.provider.js';
import type { Counts } from '../../../usage/units.js';
import { type AnswerForm, AnswerMeter } from '../answer-meter.js';
import type { Dialect, InferenceCall, InferenceFacts, RelayedRequest } from '../dialect.types.js';
import { DONE_MARK } from '../end-marks.js';
import { withCap } from '../output-bound.js';
import { readModel, readSwitch } from '../read-facts.js';
import { passRequestHeaders } from '../request-headers.js';
import { readMessagesInput } from './messages-input.js';
import { toMessagesErrorEvent } from './messages-refusal.js';
import { readMessagesUsage } from './messages-usage.js';

const MEMBERS: ReadonlySet<string> = new Set(['model', 'stream', 'max_tokens', 'thinking']);

const USES: readonly ObjectReference[] = [
  { kind: 'file', name: 'file_id' },
  { kind: 'container', name: 'container' },
];
const OWN_HEADERS = /^anthropic-/;

export interface MessagesFacts extends InferenceFacts {
  readonly outputCap: number;
  /** Whether the model thinks. Thoughts arrive at most as a summary, and are charged in full. */
  readonly thinks: boolean;
}

const ANSWER: AnswerForm = {
  endMarks: [/"type": *"message_stop"/, DONE_MARK],
  outputFields: ['"text":', '"partial_json":', '"thinking":'],
  usageIn: ({ message, usage }, before) => {
    // The output count of the first event is a placeholder.
    if (isObject(message)) return { ...readMessagesUsage(message['usage']), output: undefined };
    return readMessagesUsage(usage, before);
  },
};

/** Source: https://docs.anthropic.com/en/api/messages, read 2026-11-26. */
export const anthropicMessages: Dialect<MessagesFacts> = {
  slug: 'anthropic-messages',
  endpoint: 'messages',
  // Servers with an automatic cache write to it unasked, for the shorter lifetime.
  mayUse: ['cache_write_5m', 'web_search'],
  uses: USES,
  members: MEMBERS,
  readFacts: (members: JsonObject): MessagesFacts => ({
    model: readModel(members),
    isStream: readSwitch(members, 'stream'),
    outputCap: readCap(members),
    leastOutputCap: leastCap(members),
    thinks: thinksIn(members),
  }),
  estimate,
  withOutputCap: (call, cap) => withCap(call, ['max_tokens'], cap),
  bodyOf: ({ bytes }) => bytes,
  headersOf,
  toErrorEvent: toMessagesErrorEvent,
  newMeter: ({ facts, reportsCost }) =>
    new AnswerMeter(ANSWER, { hidesUsage: false, hidesReasoning: facts.thinks || !facts.isStream, reportsCost }),
};

/** Forwards versions, betas and the other headers of Anthropic's clients. */
function headersOf(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return { ...ANTHROPIC_VERSION, ...passRequestHeaders(headers, OWN_HEADERS) };
}

function estimate({ facts, bytes, knownModel }: InferenceCall<MessagesFacts>): UsageEstimate {
  const { bound: input, unbounded, kept, writesCache } = readMessagesInput(bytes, knownModel);
  const written: Counts = writesCache ? { cache_write_5m: 0, cache_write_1h: 0 } : {};
  return {
    unit: 'output',
    counts: { input: input ?? 0, cache_read: 0, ...written, output: facts.outputCap },
    unbounded: unbounded ?? (input === undefined ? (kept ?? 'messages') : undefined),
  };
}

function readCap({ max_tokens: cap }: JsonObject): number {
  if (typeof cap === 'number' && Number.isSafeInteger(cap) && cap >= 0) return cap;
  throw invalidField('max_tokens', 'must be a whole number');
}

/** The lowest valid cap: the thinking budget is part of the output and must be smaller than `max_tokens`. */
function leastCap({ thinking }: JsonObject): number | undefined {
  const budget = isObject(thinking) ? thinking['budget_tokens'] : undefined;
  return typeof budget === 'number' ? budget + 1 : undefined;
}

function thinksIn({ thinking }: JsonObject): boolean {
  return isObject(thinking) && thinking['type'] !== 'disabled';
}

/**
 * Counts the tokens of a request. Free of charge.
 * Source: https://docs.anthropic.com/en/api/messages-count-tokens, read 2026-11-27.
 */
export const anthropicTokenCount: RelayedRequest = {
  slug: 'anthropic-messages',
  endpoint: 'messages',
  suffix: '/count_tokens',
  uses: USES,
  members: new Set(['model']),
  headersOf,
};
