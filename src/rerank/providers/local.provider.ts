// Built in, rerank: BM25 over the request's own documents. Source: https://lucaong.github.io/minisearch/, read 2026-11-21.
import MiniSearch from 'minisearch';
import { tokenCounts, totalTokens } from '../billing/estimates.js';
import type { InProcessRerankProvider, RerankRequest } from '../rerank.types.js';
import { documentTexts } from './document-text.js';
import { CooperativeScheduler, Turns } from './cooperative-scheduler.js';
import { wordsOf } from './words.js';

/** The rest is ignored, as models of other providers cut long documents too. */
const MAX_CHARACTERS = 32_000;
/** Maximum number of distinct query words; further words are ignored. */
const MAX_QUERY_WORDS = 256;
/** Two or three milliseconds of work in the slowest script. */
const WORDS_PER_TURN = 2_000;
/** Fixed cost of a document, in words. */
const WORDS_FOR_A_DOCUMENT = 10;

/** Shared by all requests, since they share the process. */
const queue = new CooperativeScheduler();

/**
 * Scores are BM25: 0 for no common word, without upper bound, comparable within one answer only. Every model name is
 * accepted; the response says `bm25`.
 */
export const localRerank: InProcessRerankProvider = {
  kind: 'in_process',
  slug: 'local',
  options: new Set(),
  maxDocuments: 10_000,
  estimate: (request) => ({
    unit: 'request',
    counts: { input: totalTokens(tokenCounts(request)) },
  }),
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

/** One score per document. */
async function bm25(request: RerankRequest): Promise<readonly number[]> {
  const texts = documentTexts(request.documents);
  const turns = new Turns(queue, WORDS_PER_TURN);
  const queryWords = [...new Set(await readWords(request.query, turns))].slice(0, MAX_QUERY_WORDS);
  const index = await indexOf(texts, new Set(queryWords), turns);
  const scores = texts.map(() => 0);
  for (const word of queryWords) {
    // A hit costs about as much as a word.
    if (turns.spent(texts.length)) await turns.next();
    // One word at a time: MiniSearch would weigh the sum by the number of words that match, which BM25 does not.
    index.search(word, {
      tokenize: (whole) => [whole],
      // The filter sees every hit; keeping none saves sorting them.
      filter: ({ id, score }) => {
        scores[id] = (scores[id] ?? 0) + score;
        return false;
      },
    });
  }
  return scores;
}

async function indexOf(
  texts: readonly string[],
  queryWords: ReadonlySet<string>,
  turns: Turns,
): Promise<MiniSearch<IndexedDocument>> {
  const index = new MiniSearch<IndexedDocument>({
    fields: ['text'],
    tokenize: (text) => text.split(' '),
    // Indexes only the query's words; other words count only for the length of their document.
    processTerm: (word) => (queryWords.has(word) ? word : null),
  });
  for (const [id, text] of texts.entries()) {
    const words = await readWords(text, turns);
    index.add({ id, text: words.join(' ') });
    if (turns.spent(WORDS_FOR_A_DOCUMENT)) await turns.next();
  }
  return index;
}

async function readWords(text: string, turns: Turns): Promise<readonly string[]> {
  const words: string[] = [];
  for (const word of wordsOf(text.slice(0, MAX_CHARACTERS))) {
    words.push(word);
    if (turns.spent(1)) await turns.next();
  }
  return words;
}
