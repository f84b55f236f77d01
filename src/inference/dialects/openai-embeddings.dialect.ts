import { toErrorEvent } from '../../common/errors/error-envelope.js';
import { isObject, type JsonObject, parseForeignJson } from '../../common/json/read.js';
import type { ReportedUsage, StreamMeter } from '../../gateway/billable-use.js';
import type { Counts } from '../../usage/units.js';
import type { Dialect, InferenceFacts } from './dialect.types.js';
import { inputBound } from './input-bound.js';
import { readModel } from './read-facts.js';

const NO_BYTES = Buffer.alloc(0);

/** Source: https://platform.openai.com/docs/api-reference/embeddings/create, read 2026-11-26. */
export const openaiEmbeddings: Dialect = {
  slug: 'openai-embeddings',
  endpoint: 'embeddings',
  members: new Set(['model']),
  readFacts: (members: JsonObject): InferenceFacts => ({ model: readModel(members), isStream: false }),
  // The window of a model bounds each of many inputs.
  estimate: ({ bytes }) => ({ unit: 'input', counts: { input: inputBound(bytes, undefined) } }),
  bodyOf: ({ bytes }) => bytes,
  toErrorEvent,
  newMeter: () => new EmbeddingsMeter(),
};

/** The answer comes in one piece. */
class EmbeddingsMeter implements StreamMeter {
  readonly hasOutput = false;
  #counts: Counts = {};

  push(chunk: Buffer): Buffer {
    const answer = parseForeignJson(chunk);
    const usage = isObject(answer) ? answer['usage'] : undefined;
    const input = isObject(usage) ? (usage['prompt_tokens'] ?? usage['total_tokens']) : undefined;
    if (typeof input === 'number') this.#counts = { input };
    return chunk;
  }

  end(): Buffer {
    return NO_BYTES;
  }

  get usage(): ReportedUsage {
    return { counts: this.#counts };
  }
}
