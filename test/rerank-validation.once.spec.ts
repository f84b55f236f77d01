import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { json } from './support/fake-provider.js';
import { BEDROCK_MODEL, startRerankGateway, VALID, type RerankGateway } from './support/rerank-gateway.js';
import { brokenRulesOf, refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const LIMIT_BYTES = 4 * 1024 * 1024;

let gateway: RerankGateway;

beforeAll(async () => {
  gateway = await startRerankGateway();
  gateway.provider.replyWith(json({ results: [], data: [] }));
});
afterAll(() => gateway.close());

function without(field: keyof typeof VALID): object {
  return Object.fromEntries(Object.entries(VALID).filter(([name]) => name !== field));
}

describe('a broken rule of the rerank body', () => {
  it.each([
    ['model missing', 'model', without('model')],
    ['model empty', 'model', { ...VALID, model: '' }],
    ['model a number', 'model', { ...VALID, model: 1 }],
    ['model null', 'model', { ...VALID, model: null }],
    ['query missing', 'query', without('query')],
    ['query empty', 'query', { ...VALID, query: '' }],
    ['query an array', 'query', { ...VALID, query: ['a'] }],
    ['documents missing', 'documents', without('documents')],
    ['documents empty', 'documents', { ...VALID, documents: [] }],
    ['documents null', 'documents', { ...VALID, documents: null }],
    ['documents text', 'documents', { ...VALID, documents: 'Paris' }],
    ['documents like an array', 'documents', { ...VALID, documents: { 0: 'Paris', length: 1 } }],
    ['a document that is a number', 'documents.1', { ...VALID, documents: ['a', 1] }],
    ['a document that is null', 'documents.0', { ...VALID, documents: [null] }],
    ['a document that is an array', 'documents.2', { ...VALID, documents: ['a', 'b', ['c']] }],
    ['an object without text', 'documents.1.text', { ...VALID, documents: ['a', { title: 'b' }] }],
    ['an object whose text is null', 'documents.0.text', { ...VALID, documents: [{ text: null }] }],
    [
      'text that is not a string, with rank_fields',
      'documents.0.text',
      { ...VALID, documents: [{ text: 1 }], rank_fields: ['a'] },
    ],
    ['top_n 0', 'top_n', { ...VALID, top_n: 0 }],
    ['top_n negative', 'top_n', { ...VALID, top_n: -1 }],
    ['top_n 1.5', 'top_n', { ...VALID, top_n: 1.5 }],
    ['top_n text', 'top_n', { ...VALID, top_n: '3' }],
    ['return_documents text', 'return_documents', { ...VALID, return_documents: 'yes' }],
    ['max_tokens_per_doc 0', 'max_tokens_per_doc', { ...VALID, max_tokens_per_doc: 0 }],
    ['max_tokens_per_doc 0.5', 'max_tokens_per_doc', { ...VALID, max_tokens_per_doc: 0.5 }],
    ['priority text', 'priority', { ...VALID, priority: 'x' }],
    ['rank_fields text', 'rank_fields', { ...VALID, rank_fields: 'title' }],
    ['rank_fields with a number', 'rank_fields', { ...VALID, rank_fields: ['title', 1] }],
    ['truncation a number', 'truncation', { ...VALID, truncation: 1 }],
    ['parameters an array', 'parameters', { ...VALID, parameters: [] }],
    ['parameters text', 'parameters', { ...VALID, parameters: '{}' }],
    ['top_k 0', 'top_k', { ...VALID, top_k: 0 }],
    ['an unknown field', 'stream', { ...VALID, stream: false }],
  ])('names the field of a broken rule: %s', async (_what, param, body) => {
    const answer = await gateway.rerank('local', body);
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'validation_failed', param, source: 'gateway' });
    expect(brokenRulesOf(answer)).toEqual(new Set([param]));
    expect(answer.headers['x-gateway-trace-id']).toMatch(/\S/);
  });

  it('returns all broken rules together', async () => {
    const answer = await gateway.rerank('local', { documents: [], top_n: 0, extra: 1 });
    expect(brokenRulesOf(answer)).toEqual(new Set(['extra', 'model', 'query', 'documents', 'top_n']));
  });

  it.each(['[]', '"text"', 'null', '7', 'true'])('refuses a body that is not an object: %s', async (body) => {
    expect(refusalOf(await gateway.rerank('local', body))).toMatchObject({
      status: 400,
      code: 'validation_failed',
      param: null,
    });
  });

  it.each([
    ['empty', ''],
    ['cut off', '{"model": "m"'],
    ['with a comma too many', '{"model": "m",}'],
    ['two documents', '{}{}'],
    ['with NaN', '{"priority": NaN}'],
    ['with a byte order mark', '\uFEFF{}'],
    ['in another encoding', Buffer.from('{"query": "caf\xe9"}', 'latin1')],
    ['in UTF-16', Buffer.from('{"model": "m"}', 'utf16le')],
  ])('refuses a body that is not valid JSON: %s', async (_how, body) => {
    const answer = await gateway.rerank('local', body);
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', source: 'gateway' });
    expect(answer.text).not.toContain('caf');
  });
});

describe('the number of documents', () => {
  it.each([
    ['cohere', 'm', 10_000],
    ['voyage', 'm', 1_000],
    ['jina', 'm', 10_000],
    ['pinecone', 'a-newer-model', 10_000],
    ['pinecone', 'cohere-rerank-3.5', 200],
    ['pinecone', 'bge-reranker-v2-m3', 100],
    ['bedrock', BEDROCK_MODEL, 1_000],
    ['azure-ai', 'cohere.m', 10_000],
    ['local', 'm', 10_000],
  ])('limits the documents of %s (%s) to %d', async (slug, model, maximum) => {
    const virtualKey = slug === 'local' ? slug : await gateway.virtualKey(slug);
    const documents = Array.from({ length: maximum }, () => 'a');
    expect((await gateway.rerank(virtualKey, { model, query: 'q', documents })).status).toBe(200);
    const refused = await gateway.rerank(virtualKey, { model, query: 'q', documents: [...documents, 'a'] });
    expect(refusalOf(refused)).toEqual({
      status: 400,
      code: 'validation_failed',
      param: 'documents',
      source: 'gateway',
    });
    expect(refused.text).toContain(String(maximum));
  });
});

describe('a body that cannot be read', () => {
  it.each([
    ['text', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['JSON lines', { 'content-type': 'application/jsonl' }],
    ['another character set', { 'content-type': 'application/json; charset=iso-8859-1' }],
    ['of no type', { 'content-type': '' }],
    ['compressed', { 'content-encoding': 'gzip' }],
  ])('returns 415 for a body that is %s', async (_what, headers) => {
    expect(refusalOf(await gateway.rerank('local', VALID, { headers }))).toEqual({
      status: 415,
      code: 'unsupported_media_type',
      param: null,
      source: 'gateway',
    });
  });

  it.each([
    ['announced', 1, false],
    ['announced, four times the limit', 3 * LIMIT_BYTES, false],
    ['in pieces', 1, true],
    ['in pieces, four times the limit', 3 * LIMIT_BYTES, true],
  ])('returns 413 for a body over 4 MiB: %s', async (_how, surplus, inPieces) => {
    const body = Buffer.alloc(LIMIT_BYTES + surplus, ' ');
    const answer = await send(`${gateway.app.url}/v1/rerank`, {
      headers: { 'x-gateway-api-key': ADMIN_KEY, 'x-gateway-virtual-key': 'local', 'content-type': 'application/json' },
      body: inPieces ? [body.subarray(0, LIMIT_BYTES), body.subarray(LIMIT_BYTES)] : body,
    });
    expect(refusalOf(answer)).toEqual({ status: 413, code: 'payload_too_large', param: null, source: 'gateway' });
  });

  it('accepts a body of exactly 4 MiB', async () => {
    expect((await gateway.rerank('local', JSON.stringify(VALID).padEnd(LIMIT_BYTES))).status).toBe(200);
  });
});
