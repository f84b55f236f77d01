import { isObject, type JsonObject, parseForeignJson, stringOrUndefined } from '../../../common/json/read.js';
import { walkFields } from '../../../common/json/fields.js';
import type { UsageEstimate } from '../../../gateway/billable-use.js';
import type { ModelFacts } from '../../../usage/models/model-facts.js';
import type { Counts } from '../../../usage/units.js';
import { AnswerMeter } from '../answer-meter.js';
import { readMessagesInput } from '../anthropic-messages/messages-input.js';
import type { Dialect, InferenceCall, InferenceFacts } from '../dialect.types.js';
import { inputBound } from '../input-bound.js';
import { readCapAt, withCapAt } from '../nested-caps.js';
import { outputBound } from '../output-bound.js';
import { readModel, readSwitch } from '../read-facts.js';
import { BEDROCK_MODE_MEMBERS, bedrockModes } from './bedrock-modes.js';
import { toBedrockErrorFrame } from './bedrock-refusal.js';
import { bedrockHeaders } from './converse.dialect.js';
import { FramedMeter } from './framed-meter.js';
import { INVOKE_ANSWER } from './invoke-answer.js';
import { draws, familyOf } from './model-families.js';

/** Content that is stored elsewhere, or that may have more tokens than bytes. */
const UNSEEN: ReadonlySet<string> = new Set([
  's3location',
  'document',
  'video',
  'audio',
  'image',
  'images',
  'image_url',
  'inputimage',
]);

/**
 * The body has the format of its model. The path names the model and whether the answer is a stream.
 * Source: the API reference of InvokeModel, read 2026-11-28.
 */
export const bedrockInvoke: Dialect = {
  slug: 'bedrock-invoke',
  endpoint: 'invoke',
  uses: [],
  members: new Set(BEDROCK_MODE_MEMBERS),
  framing: 'aws',
  mayUse: ['cache_write_5m', 'cache_write_1h'],
  readFacts,
  modesOf: bedrockModes,
  estimate,
  withOutputCap: (call, cap) => {
    const caps = familyOf(call.facts.model)?.caps ?? [];
    return caps.length === 0 ? call : withCapAt(call, caps, cap);
  },
  bodyOf: ({ bytes }) => bytes,
  headersOf: bedrockHeaders,
  toErrorEvent: toBedrockErrorFrame,
  newMeter: ({ hidesReasoning, isTranslated = false }) =>
    new FramedMeter({
      meter: new AnswerMeter(INVOKE_ANSWER, { hidesUsage: false, hidesReasoning }),
      toText: (_name, payload) => chunkOf(payload),
      isTranslated,
    }),
};

function readFacts(members: JsonObject, body: Buffer): InferenceFacts {
  const model = readModel(members);
  return {
    model,
    isStream: readSwitch(members, 'stream'),
    outputCap: readCapAt(body, familyOf(model)?.caps ?? []),
  };
}

/** The model's own JSON, base64-encoded within the event `chunk`. */
function chunkOf(payload: Buffer): string | undefined {
  const event = parseForeignJson(payload);
  const bytes = isObject(event) ? stringOrUndefined(event['bytes']) : undefined;
  return bytes === undefined ? undefined : Buffer.from(bytes, 'base64').toString();
}

function estimate({ facts, bytes, knownModel }: InferenceCall): UsageEstimate {
  const family = familyOf(facts.model);
  const { bound, unbounded, kept, writesCache } =
    family?.isMessages === true ? readMessagesInput(bytes, knownModel) : readPlainInput(bytes, knownModel);
  const written: Counts = writesCache ? { cache_write_5m: 0, cache_write_1h: 0 } : {};
  const isWriter = family === undefined || family.caps.length > 0;
  const output = isWriter ? outputBound(facts.outputCap, 1, knownModel) : 0;
  return {
    unit: isWriter ? 'output' : 'input',
    counts: { input: bound ?? 0, cache_read: 0, ...written, output: output ?? 0 },
    unbounded: unbounded ?? unboundedField(),
  };

  function unboundedField(): string | undefined {
    if (draws(facts.model)) return 'modelId';
    if (bound === undefined) return kept ?? 'body';
    return output === undefined ? (family?.caps[0]?.join('.') ?? 'modelId') : undefined;
  }
}

function readPlainInput(bytes: Buffer, knownModel: ModelFacts | undefined): ReturnType<typeof readMessagesInput> {
  let isUnseen = false;
  let hasTools = false;
  const isWhole = walkFields(bytes, ({ name }) => {
    isUnseen ||= UNSEEN.has(name);
    hasTools ||= name === 'tools' || name === 'toolconfig';
  });
  const facts = { images: 0, imageBytes: 0, hasTools, isUnseen: isUnseen || !isWhole };
  return { bound: inputBound(bytes, facts, 0, knownModel), unbounded: undefined, kept: undefined, writesCache: false };
}
