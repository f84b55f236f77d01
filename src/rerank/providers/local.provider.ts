// Built in, rerank: BM25 over the request's own documents. Source: https://lucaong.github.io/minisearch/, read 2026-11-21.
import MiniSearch from 'minisearch';
import type { InProcessRerankProvider, RerankRequest } from '../rerank.types.js';
import { documentTexts } from './document-text.js';
import { wordsOf } from './words.js';

/** What is beyond is not read, as the models behind the other providers cut long documents too. */
const MAX_CHARACTERS = 32_000;
/** Different words of the query that count; the first ones do. */
const MAX_QUERY_WORDS = 256;
/** How much text is indexed before other requests get their turn: some milliseconds of work in the slowest script. */
const CHARACTERS_PER_TURN = 16_000;

/**
 * Scores are BM25: 0 for no common word, without upper bound, comparable within one answer only. Every model name is
 * taken; the answer says `bm25`.
 */
export const localRerank: InProcessRerankProvider = {
  kind: 'in_process',
  slug: 'local',
  options: new Set(),
  maxDocuments: 10_000,
  async rerank(request) {
    const scores = await bm25(request);
    return {
      scores: scores.map((relevanceScore, index) => ({ index, relevanceScore })),
      model: 'bm25',
      id: undefined,
      searchUnits: undefined,
      totalTokens: undefined,
    };
  },
};

interface IndexedDocument {
  readonly id: number;
  readonly text: string;
}

/** One score a document. Gives way to other work again and again: one large request must not stop the gateway. */
async function bm25(request: RerankRequest): Promise<readonly number[]> {
  const texts = documentTexts(request.documents);
  const queryWords = [...new Set(wordsOf(request.query.slice(0, MAX_CHARACTERS)))].slice(0, MAX_QUERY_WORDS);
  const index = await indexOf(texts, new Set(queryWords));
  const scores = texts.map(() => 0);
  for (const word of queryWords) {
    await turnOfOthers();
    // One word at a time: MiniSearch would weigh the sum by the number of words that match, which BM25 does not.
    for (const { id, score } of index.search(word, { tokenize: asOneWord })) scores[id] = (scores[id] ?? 0) + score;
  }
  return scores;
}

/** Only the query's words are kept; all others count for the length of their document alone. */
async function indexOf(
  texts: readonly string[],
  queryWords: ReadonlySet<string>,
): Promise<MiniSearch<IndexedDocument>> {
  const index = new MiniSearch<IndexedDocument>({
    fields: ['text'],
    tokenize: wordsOf,
    processTerm: (word) => (queryWords.has(word) ? word : null),
  });
  let charactersInTurn = 0;
  for (const [id, text] of texts.entries()) {
    const read = text.slice(0, MAX_CHARACTERS);
    index.add({ id, text: read });
    charactersInTurn += read.length;
    if (charactersInTurn < CHARACTERS_PER_TURN) continue;
    charactersInTurn = 0;
    await turnOfOthers();
  }
  return index;
}

function asOneWord(word: string): string[] {
  return [word];
}

function turnOfOthers(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
