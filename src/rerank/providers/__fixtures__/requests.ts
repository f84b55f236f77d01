import { readFileSync } from 'node:fs';
import { isObject } from '../../../common/json/read.js';
import type { RerankRequest } from '../../rerank.types.js';

/** Change what the test is about. */
export function requestWith(changes: Partial<RerankRequest> = {}): RerankRequest {
  return {
    model: 'a-model',
    query: 'What is the capital of the United States?',
    documents: ['Carson City', 'Saipan', 'Capitalization', 'Washington, D.C.', 'Capital punishment', 'Capital gains'],
    topN: undefined,
    returnDocuments: false,
    maxTokensPerDoc: undefined,
    priority: undefined,
    rankFields: undefined,
    truncation: undefined,
    parameters: undefined,
    foreign: undefined,
    exact: undefined,
    original: undefined,
    ...changes,
  };
}

const SAME_ANSWERS: ReadonlyMap<string, string> = new Map([
  ['vllm', 'openai-compatible'],
  ['together', 'openai-compatible'],
]);

/** An answer from this folder. */
export function fixture(slug: string): unknown {
  const name = SAME_ANSWERS.get(slug) ?? slug;
  return JSON.parse(readFileSync(new URL(`./${name}-rerank.json`, import.meta.url), 'utf8'));
}

/** The value at a dotted path; undefined where the way ends. */
export function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((current, name) => (isObject(current) ? current[name] : undefined), value);
}
