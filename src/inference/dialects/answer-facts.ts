import { isObject, type JsonObject } from '../../common/json/read.js';
import type { AnswerFacts } from '../../gateway/billable-use.js';

/** What providers write: never a text of the model. */
const NAME = /^[\w.:/@-]{1,128}$/;
/** Of a response that goes on, `status` says nothing about its end. */
const ENDED: ReadonlySet<unknown> = new Set(['completed', 'incomplete', 'failed', 'cancelled']);

/** What a whole answer or an event says about the answer, on top of what came before. In the forms of all dialects. */
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
