import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { isObject, readArray, readObject, UnexpectedShapeError } from '../../common/json/read.js';
import { RERANK_PROVIDERS } from '../rerank-provider.registry.js';
import { RERANK_OPTIONS, type RemoteRerankProvider } from '../rerank.types.js';
import { at, fixture, requestWith } from './__fixtures__/requests.js';

/** The differences between the providers' bodies, where the tests have to look. A new provider adds its line. */
interface Wire {
  readonly topN: string;
  readonly documents: string;
  readonly results: string;
  readonly score: string;
  readonly model?: string;
  /** The provider's answers contain the documents when `return_documents` requests them. */
  readonly returnsDocuments?: true;
}

const COHERE: Wire = { topN: 'top_n', documents: 'documents', results: 'results', score: 'relevance_score' };
const WIRES: Readonly<Record<string, Wire>> = {
  cohere: COHERE,
  'azure-ai': COHERE,
  'openai-compatible': COHERE,
  vllm: COHERE,
  together: COHERE,
  jina: { ...COHERE, returnsDocuments: true },
  voyage: { ...COHERE, topN: 'top_k', results: 'data', returnsDocuments: true },
  pinecone: { ...COHERE, results: 'data', score: 'score', returnsDocuments: true },
  bedrock: {
    topN: 'rerankingConfiguration.bedrockRerankingConfiguration.numberOfResults',
    documents: 'sources',
    results: 'results',
    score: 'relevanceScore',
    model: 'arn:aws:bedrock:us-east-1::foundation-model/cohere.rerank-v3-5:0',
  },
};

const REMOTE = RERANK_PROVIDERS.filter((provider): provider is RemoteRerankProvider => provider.kind === 'remote');

describe.each(REMOTE.map((provider) => ({ slug: provider.slug, provider })))(
  'rerank provider $slug',
  ({ slug, provider }) => {
    const wire = WIRES[slug] ?? COHERE;
    const request = requestWith({ model: wire.model ?? 'a-model' });
    const bodyOf = (changes: Parameters<typeof requestWith>[0] = {}): unknown =>
      provider.toUpstream({ ...request, ...changes }).body;

    /** The fixture with its first result changed. */
    const answerWith = (change: Readonly<Record<string, unknown>>): unknown => {
      const answer = readObject(fixture(slug), 'fixture');
      const [first, ...others] = readArray(answer[wire.results], wire.results);
      return { ...answer, [wire.results]: [{ ...readObject(first, 'first'), ...change }, ...others] };
    };

    describe('toUpstream', () => {
      it('sends a POST to an absolute path', () => {
        const sent = provider.toUpstream(request);
        expect(sent.method).toBe('POST');
        expect(sent.path).toMatch(/^(\/[\w-]+)+$/);
      });

      it('sends JSON without undefined values', () => {
        expect(undefinedPaths(bodyOf())).toEqual([]);
      });

      it('sends every document, in order', () => {
        const texts = readArray(at(bodyOf(), wire.documents), wire.documents).map((item) => JSON.stringify(item));
        expect(texts).toHaveLength(request.documents.length);
        for (const [index, text] of texts.entries()) expect(text).toContain(request.documents[index]);
      });

      it('sends top_n under its own name', () => {
        expect(at(bodyOf({ topN: 2 }), wire.topN)).toBe(2);
      });

      it('sends only the options that the provider declares', () => {
        const names = fieldNames(
          bodyOf({
            maxTokensPerDoc: 512,
            priority: 3,
            rankFields: ['text'],
            truncation: false,
            parameters: { truncate: 'END' },
          }),
        );
        expect(RERANK_OPTIONS.filter((option) => names.has(option))).toEqual(
          RERANK_OPTIONS.filter((option) => provider.options.has(option)),
        );
      });

      it('sends return_documents where the provider supports it', () => {
        const asked = [true, false].map((returnDocuments) => at(bodyOf({ returnDocuments }), 'return_documents'));
        expect(asked).toEqual(wire.returnsDocuments === true ? [true, false] : [undefined, undefined]);
      });

      it('refuses an object without text and names it', () => {
        expectRefusal(() => bodyOf({ documents: ['a', { title: 'b' }] }), 'documents.1.text');
        expectRefusal(() => bodyOf({ documents: ['a', { text: 7 }] }), 'documents.1.text');
      });

      it('does not change the request', () => {
        const frozen = deepFreeze(requestWith({ model: request.model, documents: ['a', { text: 'b', id: 1 }] }));
        expect(provider.toUpstream(frozen)).toEqual(provider.toUpstream(frozen));
      });
    });

    describe('fromUpstream', () => {
      it('reads the published response', () => {
        const outcome = provider.fromUpstream(fixture(slug), request);
        const results = readArray(at(fixture(slug), wire.results), wire.results);
        expect(outcome.scores).toHaveLength(results.length);
        for (const { index, relevanceScore } of outcome.scores) {
          expect(Number.isInteger(index)).toBe(true);
          expect(Number.isFinite(relevanceScore)).toBe(true);
        }
        expect(outcome.scores[0]?.relevanceScore).toBe(at(results[0], wire.score));
      });

      it('reports search units or tokens, never both', () => {
        const { searchUnits, totalTokens } = provider.fromUpstream(fixture(slug), request);
        expect([searchUnits, totalTokens].filter((count) => count !== undefined)).toHaveLength(1);
      });

      it.each([1e300, -1])('ignores the implausible usage %p', (figure) => {
        const billed = { search_units: figure, input_tokens: figure };
        const usage = { total_tokens: figure, rerank_units: figure };
        const answer = { ...readObject(fixture(slug), 'fixture'), meta: { billed_units: billed }, usage };
        const { searchUnits, totalTokens, isUsageComputed } = provider.fromUpstream(answer, request);
        if (isUsageComputed !== true) expect([searchUnits, totalTokens]).toEqual([undefined, undefined]);
      });

      it('accepts a response without its informative fields', () => {
        const results = at(fixture(slug), wire.results);
        expect(provider.fromUpstream({ [wire.results]: results }, request).scores).not.toHaveLength(0);
      });

      it.each([6, -1, 0.5, '0', null])('refuses the index %p', (index) => {
        expect(() => provider.fromUpstream(answerWith({ index }), request)).toThrow(UnexpectedShapeError);
      });

      it('refuses a duplicate index', () => {
        const answer = readObject(fixture(slug), 'fixture');
        const [first] = readArray(answer[wire.results], wire.results);
        const repeated = { ...answer, [wire.results]: [first, first] };
        expect(() => provider.fromUpstream(repeated, request)).toThrow('each index once');
      });

      it.each([undefined, null, '0.5'])('refuses the score %p and names its path', (score) => {
        const wrong = answerWith({ [wire.score]: score });
        expect(() => provider.fromUpstream(wrong, request)).toThrow(
          `expected a number at body.${wire.results}[0].${wire.score}`,
        );
      });

      it.each([null, [], 'text', 7, {}, { results: {}, data: {} }, { results: [null], data: [null] }])(
        'refuses the response %j',
        (answer) => {
          expect(() => provider.fromUpstream(answer, request)).toThrow(UnexpectedShapeError);
        },
      );
    });
  },
);

describe('the list of rerank providers', () => {
  it('contains each rerank provider once', () => {
    const slugs = RERANK_PROVIDERS.map((provider) => provider.slug);
    expect(new Set(slugs).size).toBe(slugs.length);
  });

  it('tests every rerank provider in this contract', () => {
    expect(REMOTE.map((provider) => provider.slug).sort()).toEqual(Object.keys(WIRES).sort());
  });

  it('has a limit of documents for each rerank provider', () => {
    for (const provider of RERANK_PROVIDERS) expect(provider.maxDocuments).toBeGreaterThanOrEqual(100);
  });
});

function expectRefusal(work: () => unknown, param: string): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect({ code: error.code, param: error.param }).toEqual({ code: 'validation_failed', param });
    return;
  }
  throw new Error('expected a refusal');
}

function undefinedPaths(value: unknown, path = 'body'): readonly string[] {
  if (value === undefined) return [path];
  if (Array.isArray(value)) return value.flatMap((item, index) => undefinedPaths(item, `${path}[${index}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => undefinedPaths(item, `${path}.${name}`));
}

function fieldNames(value: unknown): ReadonlySet<string> {
  if (Array.isArray(value)) return new Set(value.flatMap((item) => [...fieldNames(item)]));
  if (!isObject(value)) return new Set();
  return new Set(Object.entries(value).flatMap(([name, item]) => [name, ...fieldNames(item)]));
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null)
    for (const item of Object.values(Object.freeze(value))) deepFreeze(item);
  return value;
}
