import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../../../common/json/read.js';
import type { UsageEstimate } from '../../../gateway/billable-use.js';
import type { Counts } from '../../../usage/units.js';
import { AnswerMeter } from '../answer-meter.js';
import type { Dialect, InferenceCall, InferenceFacts, RelayedRequest } from '../dialect.types.js';
import { type CapPath, readCapAt, withCapAt } from '../nested-caps.js';
import { outputBound } from '../output-bound.js';
import { readModel, readSwitch } from '../read-facts.js';
import { passRequestHeaders } from '../request-headers.js';
import { BEDROCK_MODE_MEMBERS, bedrockModes } from './bedrock-modes.js';
import { toBedrockErrorFrame } from './bedrock-refusal.js';
import { CONVERSE_ANSWER } from './converse-answer.js';
import { readConverseInput } from './converse-input.js';
import { FramedMeter } from './framed-meter.js';

const CAP: CapPath = ['inferenceConfig', 'maxTokens'];
/** The models' own names of the cap, which a request may give as well. */
const MORE_CAPS: readonly CapPath[] = [
  'max_tokens',
  'max_completion_tokens',
  'max_new_tokens',
  'max_gen_len',
  'maxTokens',
  'maxTokenCount',
].map((name) => ['additionalModelRequestFields', name]);

/**
 * The path names the model and whether the answer is a stream. Source: the API reference of Converse, read 2026-11-28.
 */
export const bedrockConverse: Dialect = {
  slug: 'bedrock-converse',
  endpoint: 'converse',
  uses: [],
  members: new Set(BEDROCK_MODE_MEMBERS),
  framing: 'aws',
  mayUse: ['cache_write_5m', 'cache_write_1h'],
  readFacts: (members: JsonObject, body: Buffer): InferenceFacts => ({
    model: readModel(members),
    isStream: readSwitch(members, 'stream'),
    outputCap: readCapAt(body, [CAP, ...MORE_CAPS]),
  }),
  modesOf: bedrockModes,
  estimate,
  withOutputCap: (call, cap) => withCapAt(call, [CAP, ...MORE_CAPS], cap),
  bodyOf: ({ bytes }) => bytes,
  headersOf: bedrockHeaders,
  toErrorEvent: toBedrockErrorFrame,
  newMeter: ({ hidesReasoning, isTranslated = false }) =>
    new FramedMeter({
      meter: new AnswerMeter(CONVERSE_ANSWER, { hidesUsage: false, hidesReasoning }),
      toText: (name, payload) => `{${JSON.stringify(name)}:${payload.toString()}}`,
      isTranslated,
    }),
};

/**
 * Counts the tokens of a Converse or InvokeModel request. Free of charge. Source: the API reference of CountTokens,
 * read 2026-11-28.
 */
export const bedrockTokenCount: RelayedRequest = {
  slug: 'bedrock-token-count',
  endpoint: 'converse',
  uses: [],
  members: new Set(),
  headersOf: bedrockHeaders,
};

/** Forwards the headers of AWS's clients: guardrails, traces, the wanted latency. */
export function bedrockHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return passRequestHeaders(headers, /^x-amzn-bedrock-/);
}

/** The ARN of a stored prompt, which has its own text, model and cap. */
const PROMPT = /^arn:[^/]+:prompt\//;

function estimate({ facts, bytes, knownModel }: InferenceCall): UsageEstimate {
  const { bound: input, unbounded, kept, writesCache } = readConverseInput(bytes, knownModel);
  const written: Counts = writesCache ? { cache_write_5m: 0, cache_write_1h: 0 } : {};
  const output = outputBound(facts.outputCap, 1, knownModel);
  return {
    unit: 'output',
    counts: { input: input ?? 0, cache_read: 0, ...written, output: output ?? 0 },
    unbounded: unbounded ?? unboundedField(),
  };

  function unboundedField(): string | undefined {
    if (PROMPT.test(facts.model)) return 'modelId';
    if (input === undefined) return kept ?? 'messages';
    return output === undefined ? 'inferenceConfig.maxTokens' : undefined;
  }
}
