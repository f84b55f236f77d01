import { isObject, type JsonObject, stringOrUndefined } from '../../../common/json/read.js';
import { readConverseUsage } from '../../dialects/bedrock/converse-answer.js';
import type { OwnNames } from '../fitted-names.js';
import { isErrorAlone } from '../../failed-answers.js';
import { errorInstead, invalidAnswer } from '../provider-words.js';

/** The facts of the request that its answer depends on. */
export interface AskedConverse {
  readonly provider: string;
  readonly answerId: string;
  readonly model: unknown;
  /** Whether the caller receives the model's reasoning. */
  readonly thinks: boolean;
  readonly ownNames: OwnNames;
}

const STOP_REASONS: ReadonlyMap<unknown, string> = new Map([
  ['end_turn', 'end_turn'],
  ['tool_use', 'tool_use'],
  ['max_tokens', 'max_tokens'],
  ['stop_sequence', 'stop_sequence'],
  ['guardrail_intervened', 'refusal'],
  ['content_filtered', 'refusal'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'model_context_window_exceeded'],
]);

/** Translates an answer of Converse to a message. Sources: those of the request. */
export function toMessage(answer: JsonObject, asked: AskedConverse): JsonObject {
  if (isErrorAlone(answer)) throw errorInstead(answer, asked.provider);
  const { output, usage } = answer;
  const message = isObject(output) ? output['message'] : undefined;
  if (!isObject(message) || !Array.isArray(message['content'])) throw invalidAnswer('an answer without content');
  const content = message['content'].filter(isObject).flatMap((block) => blockOf(block, asked));
  return {
    ...messageHead(asked),
    content,
    ...stopOf(
      answer,
      content.some(({ type }) => type === 'tool_use'),
    ),
    usage: toMessageUsage(usage),
  };
}

export function messageHead({ answerId, model }: AskedConverse): JsonObject {
  return { id: `msg_${answerId}`, type: 'message', role: 'assistant', model };
}

/**
 * Some models end an answer with tool calls with `end_turn`. The stop sequence that matched is among the model's own
 * fields.
 */
export function stopOf({ stopReason, additionalModelResponseFields: own }: JsonObject, hasCalls: boolean): JsonObject {
  const reason = STOP_REASONS.get(stopReason) ?? 'end_turn';
  const sequence = isObject(own) ? stringOrUndefined(own['stop_sequence']) : undefined;
  return {
    stop_reason: hasCalls && reason === 'end_turn' ? 'tool_use' : reason,
    stop_sequence: reason === 'stop_sequence' ? (sequence ?? null) : null,
  };
}

export function toMessageUsage(usage: unknown): JsonObject {
  const counts = readConverseUsage(usage) ?? {};
  const { cache_write_5m: short = 0, cache_write_1h: long = 0 } = counts;
  return {
    input_tokens: counts.input ?? 0,
    cache_creation_input_tokens: short + long,
    cache_read_input_tokens: counts.cache_read ?? 0,
    cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
    output_tokens: counts.output ?? 0,
  };
}

function blockOf(block: JsonObject, { thinks, ownNames }: AskedConverse): readonly JsonObject[] {
  const { text, toolUse, reasoningContent: thought, citationsContent: cited } = block;
  if (typeof text === 'string') return text === '' ? [] : [{ type: 'text', text }];
  if (isObject(toolUse)) {
    const { toolUseId: id, name, input } = toolUse;
    if (typeof id !== 'string' || typeof name !== 'string') throw invalidAnswer('a tool call without id and name');
    return [{ type: 'tool_use', id, name: ownNames.get(name) ?? name, input: isObject(input) ? input : {} }];
  }
  if (isObject(cited) && Array.isArray(cited['content'])) {
    const texts = cited['content'].filter(isObject).map((part) => stringOrUndefined(part['text']) ?? '');
    return [{ type: 'text', text: texts.join('') }];
  }
  return thinks && isObject(thought) ? thoughtOf(thought) : [];
}

function thoughtOf({ reasoningText: said, redactedContent: data }: JsonObject): readonly JsonObject[] {
  if (typeof data === 'string') return [{ type: 'redacted_thinking', data }];
  if (!isObject(said)) return [];
  const { text, signature } = said;
  return [{ type: 'thinking', thinking: stringOrUndefined(text) ?? '', signature: stringOrUndefined(signature) ?? '' }];
}
