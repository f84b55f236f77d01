import type { IncomingHttpHeaders } from 'node:http';
import { invalidField } from '../../../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../../../common/json/read.js';
import type { UsageEstimate } from '../../../gateway/billable-use.js';
import { ANTHROPIC_VERSION } from '../../../upstream/providers/anthropic.provider.js';
import type { Counts } from '../../../usage/units.js';
import type { Dialect, InferenceCall, InferenceFacts } from '../dialect.types.js';
import { type AnswerForm, EventMeter } from '../event-meter.js';
import { inputBound } from '../input-bound.js';
import { readModel, readSwitch } from '../read-facts.js';
import { toMessagesErrorEvent } from './messages-refusal.js';
import { readMessagesUsage } from './messages-usage.js';

const MEMBERS: ReadonlySet<string> = new Set(['model', 'stream', 'max_tokens']);

/**
 * What adds input or output that is not known before, and the field that asks for it: tools that run at the provider, servers that
 * it calls, and summaries that it writes by itself.
 */
const UNBOUNDED: readonly (readonly [pattern: RegExp, field: string])[] = [
  [/"type"\s*:\s*"(?:web_search|web_fetch|code_execution|tool_search|advisor)_/, 'tools'],
  [/"mcp_servers"\s*:/, 'mcp_servers'],
  [/"type"\s*:\s*"compact_/, 'context_management'],
];
/** Content that the gateway does not see, or in which a page may be more tokens than it has bytes. */
const UNSEEN = /"application\/pdf"|"type"\s*:\s*"url"/;
const OWN_HEADERS = 'anthropic-';
const MAX_HEADERS = 32;
const MAX_HEADER = 4_096;
const CACHED = '"cache_control"';
const THINKS = /"thinking"\s*:\s*\{/;

export interface MessagesFacts extends InferenceFacts {
  readonly outputCap: number;
}

const ANSWER: AnswerForm = {
  outputFields: ['"text":"', '"partial_json":"', '"thinking":"'],
  usageIn: ({ message, usage }, before) => {
    // What the first event says of the output is a placeholder.
    if (isObject(message)) return { ...readMessagesUsage(message['usage']), output: undefined };
    return readMessagesUsage(usage, before);
  },
};

/** Source: https://docs.anthropic.com/en/api/messages, read 2026-11-26. */
export const anthropicMessages: Dialect<MessagesFacts> = {
  slug: 'anthropic-messages',
  endpoint: 'messages',
  members: MEMBERS,
  readFacts: (members: JsonObject): MessagesFacts => ({
    model: readModel(members),
    isStream: readSwitch(members, 'stream'),
    outputCap: readCap(members),
  }),
  estimate,
  bodyOf: ({ bytes }) => bytes,
  headersOf,
  toErrorEvent: toMessagesErrorEvent,
  // What the model thinks comes as a summary, if at all, and is paid whole.
  newMeter: ({ bytes }) => new EventMeter(ANSWER, { hidesUsage: false, hidesReasoning: THINKS.test(textOf(bytes)) }),
};

/** Versions, betas and what else Anthropic's clients say. */
function headersOf(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const passed = Object.entries(headers).flatMap(([name, value]) => {
    return name.startsWith(OWN_HEADERS) && typeof value === 'string' && value.length <= MAX_HEADER
      ? [[name, value]]
      : [];
  });
  return { ...ANTHROPIC_VERSION, ...Object.fromEntries(passed.slice(0, MAX_HEADERS)) };
}

function estimate({ facts, bytes, knownModel }: InferenceCall<MessagesFacts>): UsageEstimate {
  const text = textOf(bytes);
  const input = UNSEEN.test(text) ? knownModel?.contextWindow : inputBound(bytes, knownModel);
  const written: Counts = text.includes(CACHED) ? { cache_write_5m: 0, cache_write_1h: 0 } : {};
  const [, field] = UNBOUNDED.find(([pattern]) => pattern.test(text)) ?? [];
  return {
    unit: 'output',
    counts: { input, cache_read: 0, ...written, output: facts.outputCap },
    unbounded: field ?? (input === undefined ? 'messages' : undefined),
  };
}

/** For searches in ASCII: one character for each byte. */
function textOf(bytes: Buffer): string {
  return bytes.toString('latin1');
}

function readCap({ max_tokens: cap }: JsonObject): number {
  if (typeof cap === 'number' && Number.isSafeInteger(cap) && cap >= 0) return cap;
  throw invalidField('max_tokens', 'must be a whole number');
}
