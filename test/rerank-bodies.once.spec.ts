import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from './support/any-character.js';
import { json, onlyCall } from './support/fake-provider.js';
import { startRerankGateway, VALID, type RerankGateway } from './support/rerank-gateway.js';
import { jsonOf, refusalOf } from './support/send.js';

const MIB = 1024 * 1024;
const NUL = '\0';
const LONE = '\uD800';
const RTL = '\u202Eمرحبا بالعالم\u202C';
const EMOJI = '👩‍👩‍👧‍👦🇫🇷';

/** JSON text, since some of it cannot be written as an object here. */
const DEEP_40 = '{"a":'.repeat(39) + '[1]' + '}'.repeat(39);
const DEEP_100_000 = '['.repeat(100_000) + ']'.repeat(100_000);

let gateway: RerankGateway;
let pinecone: string;

beforeAll(async () => {
  gateway = await startRerankGateway();
  pinecone = await gateway.virtualKey('pinecone');
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.provider.forget();
  gateway.provider.replyWith(json({ data: [{ index: 0, score: 0.5 }], usage: { rerank_units: 1 } }));
});

function withField(name: string, value: string): string {
  return JSON.stringify(VALID).replace('{', `{"${name}":${value},`);
}

describe('integers beyond 2^53', () => {
  const DOCUMENTS = '[{"text":"needle","id":12345678901234567890},{"text":"b","of":[-9007199254740993,0.5]}]';
  const PARAMETERS = '{"seed":9007199254740993}';
  const body = (more: string): string =>
    `{"model":"m","query":"needle","documents":${DOCUMENTS},"return_documents":true${more}}`;

  it('returns large integers unchanged', async () => {
    const { status, headers, text } = await gateway.rerank('local', body(''));
    expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect(text).toContain('"document":{"text":"needle","id":12345678901234567890}');
    expect(text).toContain('"document":{"text":"b","of":[-9007199254740993,0.5]}');
    expect(JSON.parse(text)).toMatchObject({ object: 'list', provider: 'local' });
  });

  it('sends large integers unchanged to a provider that accepts whole objects', async () => {
    const { status, text } = await gateway.rerank(pinecone, body(`,"parameters":${PARAMETERS}`));
    expect(status).toBe(200);
    expect(text).toContain('"document":{"text":"needle","id":12345678901234567890}');
    const sent = onlyCall(gateway.provider).body;
    expect(sent).toContain(`"documents":${DOCUMENTS}`);
    expect(sent).toContain(`"parameters":${PARAMETERS}`);
    expect(JSON.parse(sent)).toMatchObject({ model: 'm', return_documents: true });
    await gateway.rerank(pinecone, `{"model":"m","query":"q","documents":["a"],"parameters":${PARAMETERS}}`);
    expect(gateway.provider.calls.at(-1)?.body).toContain(`"parameters":${PARAMETERS}`);
  });
});

describe('rerank of unusual documents', () => {
  it.each([
    ['100 KB of text', ['x'.repeat(100_000)]],
    ['almost 4 MiB of text', ['x'.repeat(4 * MIB - 200)]],
    ['200 documents', Array.from({ length: 200 }, (_, index) => `document ${index}`)],
    ['an empty string', ['']],
    ['white space', [' \t\n']],
    ['emoji', [EMOJI]],
    ['text from right to left', [RTL]],
    ['NUL characters', [`a${NUL}b`]],
    ['half a surrogate pair', [`a${LONE}b`]],
    ['an object without anything but text', [{ text: '' }]],
    [
      'metadata named like members of every object',
      [{ text: 'a', constructor: 1, toString: 'b', hasOwnProperty: null }],
    ],
    ['metadata in all types', [{ text: 'a', n: 1e308, b: false, x: null, list: [[], {}], '': '' }]],
  ])('sends and returns unusual documents unchanged: %s', async (_what, documents) => {
    const answer = await gateway.rerank(pinecone, { model: 'm', query: 'q', documents, return_documents: true });
    expect(answer.status).toBe(200);
    const objects = documents.map((document) => (typeof document === 'string' ? { text: document } : document));
    expect(JSON.parse(onlyCall(gateway.provider).body)).toMatchObject({ documents: objects });
    expect(jsonOf(answer)['results']).toEqual([{ index: 0, relevance_score: 0.5, document: objects[0] }]);
  });

  it.each([
    ['a field named __proto__', '{"text":"a","__proto__":{"text":"b"}}'],
    ['40 levels of metadata', `{"text":"a","deep":${DEEP_40}}`],
  ])('sends and returns documents unchanged as JSON text: %s', async (_what, document) => {
    const body = `{"model":"m","query":"q","return_documents":true,"documents":[${document}]}`;
    const answer = await gateway.rerank(pinecone, body);
    expect(answer.text).toContain(`"document":${document}`);
    expect(onlyCall(gateway.provider).body).toContain(`"documents":[${document}]`);
  });

  it('ranks 1,000 documents', async () => {
    const documents = Array.from({ length: 1_000 }, (_, index) => (index === 617 ? 'the needle' : `hay ${index}`));
    const answer = await gateway.rerank('local', { model: 'm', query: 'needle', documents });
    expect(jsonOf(answer)['results']).toHaveLength(1_000);
    expect(jsonOf(answer)['results']).toMatchObject([{ index: 617 }, ...Array.from({ length: 999 }, () => ({}))]);
  });

  it.each([
    ['emoji', EMOJI],
    ['text from right to left', RTL],
    ['NUL characters', NUL],
    ['half a surrogate pair', LONE],
    ['punctuation', '?!'],
    ['100 KB', 'x '.repeat(50_000)],
  ])('ranks documents against a query of %s', async (_what, query) => {
    for (const virtualKey of ['local', pinecone]) {
      expect((await gateway.rerank(virtualKey, { ...VALID, query })).status).toBe(200);
    }
    expect(JSON.parse(onlyCall(gateway.provider).body)).toMatchObject({ query });
  });
});

describe('rerank with unusual parameters', () => {
  it.each([
    ['40 levels deep', DEEP_40],
    ['a field named __proto__', '{"__proto__":{"truncate":"END"},"constructor":{"prototype":1},"toString":2}'],
    ['empty', '{}'],
  ])('sends unusual parameters unchanged: %s', async (_what, parameters) => {
    expect((await gateway.rerank(pinecone, withField('parameters', parameters))).status).toBe(200);
    expect(onlyCall(gateway.provider).body).toContain(`"parameters":${parameters}`);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'length', ''])(
    'refuses an unknown field with any name: %j',
    async (name) => {
      for (const value of ['1', '{"model":"m"}', 'null']) {
        expect(refusalOf(await gateway.rerank('local', withField(name, value)))).toEqual({
          status: 400,
          code: 'validation_failed',
          param: name,
          source: 'gateway',
        });
      }
    },
  );

  it.each([
    ['parameters', `{"a":${DEEP_100_000}}`],
    ['documents', `[{"text":"a","deep":${DEEP_100_000}}]`],
    ['query', DEEP_100_000],
    ['unknown', DEEP_100_000],
  ])('refuses a body that nests too deeply: in %s', async (name, value) => {
    const refusal = { status: 400, code: 'validation_failed', param: null, source: 'gateway' };
    expect(refusalOf(await gateway.rerank(pinecone, `{"model":"m","${name}":${value}}`))).toEqual(refusal);
  });

  it('refuses 100,000 fields before validating each of them', async () => {
    const fields = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`field_${index}`, 1]));
    for (const body of [
      { ...VALID, ...fields },
      { ...VALID, top_n: 0, documents: [{ text: 'a', fields }] },
    ]) {
      const answer = await gateway.rerank('local', body);
      expect(refusalOf(answer)).toEqual({ status: 400, code: 'validation_failed', param: null, source: 'gateway' });
      expect(answer.text.length).toBeLessThan(1_000);
    }
  });
});

describe('rerank at a provider with the same format', () => {
  let cohere: string;

  beforeAll(async () => {
    cohere = await gateway.virtualKey('cohere');
  });
  beforeEach(() => gateway.provider.replyWith(json({ results: [{ index: 0, relevance_score: 0.5 }] })));

  it('passes the JSON body through unchanged when the format is the same', async () => {
    const body = ' { "query": "q\\u00e4", "documents" :["a"],\n"model":"m"}';
    expect((await gateway.rerank(cohere, body)).status).toBe(200);
    expect(onlyCall(gateway.provider).body).toBe(body);
  });

  it.each(['"model":"first"', String.raw`"mod\u0065l":"first"`])(
    'sends a duplicate field once, with the checked value: %s',
    async (field) => {
      const body = `{${field},"query":"q","documents":["a"],"model":"last"}`;
      expect((await gateway.rerank(cohere, body)).status).toBe(200);
      expect(onlyCall(gateway.provider).body).toBe('{"model":"last","query":"q","documents":["a"]}');
    },
  );
});

describe('rerank of random JSON', () => {
  const value = fc.jsonValue({ maxDepth: 4 });
  const documents = fc.array(fc.oneof(fc.string({ unit: anyCharacter }), value, fc.record({ text: fc.string() })), {
    maxLength: 5,
  });
  const nearlyValid = fc.record(
    {
      model: fc.oneof(fc.constant('m'), value),
      query: fc.oneof(fc.string({ unit: anyCharacter }), value),
      documents: fc.oneof(documents, value),
      top_n: fc.oneof(fc.integer({ min: -1, max: 9 }), value),
      return_documents: fc.oneof(fc.boolean(), value),
      rank_fields: fc.oneof(fc.array(fc.string()), value),
      parameters: fc.oneof(fc.dictionary(fc.string(), value), value),
      truncation: value,
      other: value,
    },
    { requiredKeys: [] },
  );

  it('returns 200 or 400 in the documented form for random JSON', async () => {
    gateway.provider.replyWith(json({ data: [] }));
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ arbitrary: nearlyValid, weight: 4 }, value),
        fc.constantFrom('local', pinecone),
        async (body, virtualKey) => {
          const answer = await gateway.rerank(virtualKey, body);
          if (answer.status === 200) expect(jsonOf(answer)).toMatchObject({ object: 'list', id: expect.any(String) });
          else expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', source: 'gateway' });
        },
      ),
      { numRuns: 400 },
    );
  });
});
