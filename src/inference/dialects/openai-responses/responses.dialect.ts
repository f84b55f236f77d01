import type { GatewayError } from '../../../common/errors/gateway.error.js';
import { isObject, type JsonObject, stringOrUndefined } from '../../../common/json/read.js';
import type { UsageEstimate } from '../../../gateway/billable-use.js';
import type { ObjectReference } from '../../../gateway/relay/relay-route.js';
import { type AnswerForm, AnswerMeter } from '../answer-meter.js';
import type { Dialect, InferenceCall, InferenceFacts, RelayedRequest } from '../dialect.types.js';
import { DONE_MARK } from '../end-marks.js';
import { openaiHeaders } from '../openai-headers.js';
import { type BoundMembers, readOpenaiInput } from '../openai-input.js';
import { outputBound, readCap, withCap } from '../output-bound.js';
import { readModel, readSwitch } from '../read-facts.js';
import { readResponsesUsage } from './responses-usage.js';

export interface ResponsesFacts extends InferenceFacts {
  /** In tokens, reasoning included; undefined without a cap. */
  readonly outputCap: number | undefined;
  /** Whether the client fetches the answer later, by another request. */
  readonly isInBackground: boolean;
}

const BOUND_MEMBERS: BoundMembers = {
  // The provider writes summaries on its own.
  unbounded: new Set(['context_management']),
  unseen: new Set(['previous_response_id', 'conversation', 'prompt']),
};

const USES: readonly ObjectReference[] = [
  { kind: 'file', name: 'file_id' },
  { kind: 'file', name: 'file_ids' },
  { kind: 'vector_store', name: 'vector_store_ids' },
  { kind: 'response', name: 'previous_response_id' },
  { kind: 'conversation', name: 'conversation' },
  { kind: 'container', name: 'container' },
  // The container of a shell, or of an earlier call in the input, which the provider uses again.
  { kind: 'container', name: 'container_id' },
];

const ANSWER: AnswerForm = {
  idIn: ({ id, response }) => stringOrUndefined(isObject(response) ? response['id'] : id),
  outputFields: ['"delta":'],
  endMarks: [/"type": *"response\.(?:completed|incomplete|failed)"/, DONE_MARK],
  usageIn: (message) => readResponsesUsage(isObject(message['response']) ? message['response'] : message),
};

/** Source: https://platform.openai.com/docs/api-reference/responses/create, read 2026-11-27. */
export const openaiResponses: Dialect<ResponsesFacts> = {
  slug: 'openai-responses',
  endpoint: 'responses',
  uses: USES,
  creates: 'response',
  mayUse: ['cache_write_5m', 'cache_write_1h', 'web_search'],
  members: new Set(['model', 'stream', 'max_output_tokens', 'background', 'store']),
  readFacts: (members: JsonObject): ResponsesFacts => ({
    model: readModel(members),
    isStream: readSwitch(members, 'stream'),
    outputCap: readCap(members, ['max_output_tokens']),
    isInBackground: readSwitch(members, 'background'),
  }),
  estimate,
  headersOf: openaiHeaders,
  withOutputCap: (call, cap) => withCap(call, ['max_output_tokens'], cap),
  bodyOf: ({ bytes }) => bytes,
  toErrorEvent: toFailedEvent,
  newMeter: ({ hidesReasoning, reportsCost }, onId) =>
    new AnswerMeter(ANSWER, { hidesUsage: false, hidesReasoning, reportsCost, onId }),
};

/** Compacts a conversation. Its output cannot be capped. */
export const openaiCompaction: Dialect<ResponsesFacts> = {
  ...openaiResponses,
  suffix: '/compact',
  withOutputCap: undefined,
  members: new Set(['model']),
  readFacts: (members) => ({ model: readModel(members), isStream: false, outputCap: undefined, isInBackground: false }),
  estimate: (call) => {
    const bound = estimate(call);
    return bound.unbounded === 'max_output_tokens' ? { ...bound, unbounded: 'model' } : bound;
  },
};

/** Counts the tokens of a request. Free of charge. */
export const openaiTokenCount: RelayedRequest = {
  slug: 'openai-responses',
  endpoint: 'responses',
  suffix: '/input_tokens',
  uses: USES,
  members: new Set(['model']),
  headersOf: openaiHeaders,
};

function estimate({ facts, bytes, knownModel, savedTokens }: InferenceCall<ResponsesFacts>): UsageEstimate {
  const { bound: input, unbounded, kept } = readOpenaiInput(bytes, BOUND_MEMBERS, knownModel, savedTokens);
  const output = outputBound(facts.outputCap, 1, knownModel);
  return {
    unit: 'output',
    counts: { input: input ?? 0, cache_read: 0, output: output ?? 0 },
    unbounded: unbounded ?? unboundedField(),
  };

  function unboundedField(): string | undefined {
    if (facts.isInBackground) return 'background';
    if (input === undefined) return kept ?? 'input';
    return output === undefined ? 'max_output_tokens' : undefined;
  }
}

const TOO_LONG = 'context_length_exceeded';

/**
 * Codex looks for `response.failed` alone. The SDKs refuse that event for a response that has not begun, or for another
 * id than the one that has.
 */
function toFailedEvent(error: GatewayError, requestId = '', answerId?: string): string {
  const { message, provider } = error;
  // With this code, Codex compacts the conversation.
  const code = provider?.code === TOO_LONG ? TOO_LONG : error.code;
  const head = { id: answerId ?? `resp_${requestId}`, object: 'response', output: [], usage: null };
  const begun = answerId === undefined ? toEvent('created', { ...head, status: 'in_progress', error: null }) : '';
  return begun + toEvent('failed', { ...head, status: 'failed', error: { code, message } });
}

function toEvent(what: string, response: JsonObject): string {
  const type = `response.${what}`;
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 0, response })}\n\n`;
}
