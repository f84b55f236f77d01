import { describe, expect, it } from '@jest/globals';
import { toRerankRequest } from '../rerank.mapper.js';
import type { CreateRerankDto } from '../dto/create-rerank.dto.js';
import type { RerankRequest } from '../rerank.types.js';
import { cohereRerank, originalJson } from './cohere.provider.js';

const FIELDS = new Set(['model', 'query', 'documents', 'top_n']);

/** The request that the gateway reads from a body. */
function read(json: string): RerankRequest {
  const dto: CreateRerankDto = JSON.parse(json);
  return toRerankRequest(dto, Buffer.from(json));
}

const original = (json: string): string | undefined => originalJson(read(json), FIELDS)?.toString();

describe('the original JSON is sent', () => {
  it.each([
    ['{"model":"m","query":"q","documents":["a","b"]}'],
    ['{"top_n":1,"documents":["a","b"],"query":"q","model":"m"}'],
    ['\n{ "model" : "m",\t"query": "q", "documents" : [ "a" ] }\n'],
    [String.raw`{"model":"m","query":"\"model\":\"x\"","documents":["{\"model\":1}","\\"]}`],
    [String.raw`{"mod\u0065l":"m","query":"q","documents":["a"]}`],
    ['{"model":"m","query":"ä😀","documents":["model","model"]}'],
  ])('sends the original JSON unchanged: %s', (json) => {
    expect(original(json)).toBe(json);
  });
});

describe('the JSON is serialized again', () => {
  it.each([
    ['a field that comes twice', '{"model":"cheap","query":"q","documents":["a"],"model":"m"}'],
    ['a field that comes twice with one value', '{"model":"m","query":"q","documents":["a"],"model":"m"}'],
    ['a duplicate field in two spellings', String.raw`{"mod\u0065l":"x","query":"q","documents":["a"],"model":"m"}`],
    ['documents that come twice', '{"documents":["x"],"model":"m","query":"q","documents":["a"]}'],
    ['a field that the provider lacks', '{"model":"m","query":"q","documents":["a"],"return_documents":false}'],
    ['a document that is an object', '{"model":"m","query":"q","documents":["a",{"text":"b"}]}'],
    ['more results than documents', '{"model":"m","query":"q","documents":["a"],"top_n":2}'],
  ])('serializes the JSON again for %s', (_case, json) => {
    expect(original(json)).toBeUndefined();
  });

  it('serializes the JSON again when the bytes are not known', () => {
    expect(originalJson({ ...read('{"documents":[]}'), original: undefined }, FIELDS)).toBeUndefined();
  });
});

describe('cohere', () => {
  it('sends the original bytes to Cohere', () => {
    const request = read('{"model":"m","query":"q","documents":["a"],"max_tokens_per_doc":9,"priority":1}');
    expect(cohereRerank.toUpstream(request)).toMatchObject({
      bytes: request.original?.bytes,
      body: undefined,
    });
  });

  it('sends the validated values to Cohere when a field is duplicated', () => {
    const request = read('{"model":"cheap","query":"q","documents":["a"],"model":"m"}');
    expect(cohereRerank.toUpstream(request)).toMatchObject({
      bytes: undefined,
      body: { model: 'm', query: 'q', documents: ['a'] },
    });
  });
});
