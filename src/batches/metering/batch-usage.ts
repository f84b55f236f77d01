import {
  isObject,
  type JsonObject,
  numberOrUndefined,
  parseForeignJson,
  stringOrUndefined,
} from '../../common/json/read.js';
import type { DoneCalls } from '../../gateway/deferred/deferred-meter.js';
import { readChatUsage, usageMemberOf } from '../../inference/dialects/openai-chat/chat-usage.js';
import { readResponsesUsage } from '../../inference/dialects/openai-responses/responses-usage.js';
import type { Counts } from '../../usage/units.js';

/** The usage of all calls of a batch; undefined where the provider does not report it. */
export function usageOfBatch(batch: JsonObject): Counts | undefined {
  const counts = usageIn(batch);
  return countsNothing(counts) && completedIn(batch) !== 0 ? undefined : counts;
}

/** Some servers write zeros where they count nothing. */
export function countsNothing(counts: Counts | undefined): boolean {
  return sumOf(counts) === 0;
}

/** How many calls have succeeded; undefined: the batch does not say it. */
export function completedIn({ request_counts: counts }: JsonObject): number | undefined {
  return isObject(counts) ? numberOrUndefined(counts['completed']) : undefined;
}

/** Whether it is known that no call of a batch that is over has succeeded. */
export function madeNoCall(batch: JsonObject): boolean {
  const completed = completedIn(batch);
  return completed === undefined ? batch['status'] === 'failed' : completed === 0;
}

/** Gathers what the lines of a batch's output file say that its calls have used. */
export class BatchUsage {
  readonly #models = new Map<string | undefined, Counts[]>();
  #isWhole = true;
  #lines = 0;

  addLine(line: Buffer): void {
    this.#lines += 1;
    const result = parseForeignJson(line);
    const response = isObject(result) ? result['response'] : undefined;
    if (!isObject(response)) {
      // A call that was not made has an error in its place.
      this.#isWhole &&= isObject(result) && isObject(result['error']);
      return;
    }
    const { status_code: status, body } = response;
    if (typeof status === 'number' && (status < 200 || status > 299)) return;
    const counts = isObject(body) ? usageIn(body) : undefined;
    if (!isObject(body) || counts === undefined || countsNothing(counts)) {
      this.#isWhole = false;
      return;
    }
    const model = stringOrUndefined(body['model']);
    const calls = this.#models.get(model) ?? [];
    calls.push(counts);
    this.#models.set(model, calls);
  }

  /**
   * undefined: some of it is not known.
   * @param completed how many calls have succeeded, by the batch
   */
  done(completed: number | undefined): readonly DoneCalls[] | undefined {
    const isWhole = this.#isWhole && this.#lines >= (completed ?? 0);
    return isWhole ? [...this.#models].map(([model, calls]) => ({ model, calls })) : undefined;
  }
}

/** Chats and embeddings have other names for their figures than responses, and than batches as a whole. */
function usageIn(body: JsonObject): Counts | undefined {
  const [first, second] = [readResponsesUsage(body), readChatUsage(usageMemberOf(body))];
  // Some servers write both forms, and zeros in the one that they do not use.
  return sumOf(second) > sumOf(first) ? second : (first ?? second);
}

function sumOf(counts: Counts = {}): number {
  return Object.values(counts).reduce<number>((sum, count) => sum + (count ?? 0), 0);
}
