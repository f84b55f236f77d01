import { isObject, type JsonObject } from '../../common/json/read.js';
import type { AnswerFacts } from '../../gateway/billable-use.js';

/** Matches names that providers write, but no text of a model. */
const NAME = /^[\w.:/@-]{1,128}$/;
/** The values of `status` that name the end of a response; the others belong to unfinished ones. */
const ENDED: ReadonlySet<unknown> = new Set(['completed', 'incomplete', 'failed', 'cancelled']);

/** Adds the facts of a whole answer or an event to those from before. Reads the formats of OpenAI and Anthropic. */
export function answerFactsIn(message: JsonObject, before: AnswerFacts): AnswerFacts {
  const { response, message: begun, delta } = message;
  const answer = isObject(response) ? response : isObject(begun) ? begun : message;
  return {
    id: before.id ?? nameIn(answer['id']),
    model: before.model ?? nameIn(answer['model']),
    finishReason:
      finishReasonOf(answer) ?? (isObject(delta) ? nameIn(delta['stop_reason']) : undefined) ?? before.finishReason,
  };
}

function finishReasonOf({ choices, stop_reason, status, incomplete_details: details }: JsonObject): string | undefined {
  const reason = Array.isArray(choices) ? reasonOfChoice(choices) : nameIn(stop_reason);
  if (reason !== undefined || !ENDED.has(status)) return reason;
  return (isObject(details) ? nameIn(details['reason']) : undefined) ?? nameIn(status);
}

function reasonOfChoice(choices: readonly unknown[]): string | undefined {
  const ended = choices.find((choice) => isObject(choice) && typeof choice['finish_reason'] === 'string');
  return isObject(ended) ? nameIn(ended['finish_reason']) : undefined;
}

function nameIn(value: unknown): string | undefined {
  return typeof value === 'string' && NAME.test(value) ? value : undefined;
}
