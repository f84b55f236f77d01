import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { compileChecks } from '../../common/validation/compiled-checks.js';
import { toValidationError } from '../../common/validation/validation-details.js';
import { CreateRerankDto } from './create-rerank.dto.js';

const VALID = { model: 'bm25', query: 'keys', documents: ['Keys are rotated.', { text: 'Bananas.' }] };

/** `param` of every broken rule. */
function wrongParamsOf(body: object): ReadonlySet<string | null> {
  const options = { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true };
  const errors = validateSync(plainToInstance(CreateRerankDto, body), options);
  return new Set(errors.length === 0 ? [] : toValidationError(errors).details?.map((detail) => detail.param));
}

describe('a rerank body', () => {
  it.each([
    VALID,
    { ...VALID, documents: [''] },
    { ...VALID, documents: [{ text: '', title: 'kept', nested: { any: ['thing'] } }] },
    { ...VALID, documents: [{ title: 'no text' }], rank_fields: ['title'] },
    { ...VALID, top_n: 1, return_documents: true, max_tokens_per_doc: 1, priority: 0, truncation: false },
    { ...VALID, top_n: 1_000_000 },
    { ...VALID, rank_fields: [], parameters: { truncate: 'END' } },
  ])('is taken: %j', (body) => expect(wrongParamsOf(body)).toEqual(new Set()));

  it.each([
    ['model', undefined],
    ['model', ''],
    ['model', 1],
    ['model', null],
    ['query', undefined],
    ['query', ''],
    ['query', ['keys']],
    ['documents', undefined],
    ['documents', null],
    ['documents', []],
    ['documents', 'text'],
    ['documents', { 0: 'text', length: 1 }],
    ['top_n', 0],
    ['top_n', -1],
    ['top_n', 1.5],
    ['top_n', '3'],
    ['top_n', null],
    ['return_documents', 'true'],
    ['return_documents', 1],
    ['max_tokens_per_doc', 0],
    ['max_tokens_per_doc', 2.5],
    ['priority', 'high'],
    ['priority', null],
    ['rank_fields', 'title'],
    ['rank_fields', [1]],
    ['truncation', 'yes'],
    ['parameters', []],
    ['parameters', 'END'],
    ['top_k', 3],
    ['stream', false],
  ])('is refused by name when %s is %j', (name, value) => {
    expect(wrongParamsOf({ ...VALID, [name]: value })).toEqual(new Set([name]));
  });

  it.each([
    [['fine', 1], 'documents.1'],
    [['fine', null], 'documents.1'],
    [[['nested']], 'documents.0'],
    [[{}], 'documents.0.text'],
    [[{ text: 1 }], 'documents.0.text'],
    [[{ text: null }], 'documents.0.text'],
    [[{ title: 'no text' }], 'documents.0.text'],
  ])('is refused by the place when the documents are %j', (documents, param) => {
    expect(wrongParamsOf({ ...VALID, documents })).toEqual(new Set([param]));
  });

  it('may do without text only where rank_fields name other fields, and then still not with a wrong one', () => {
    expect(wrongParamsOf({ ...VALID, rank_fields: ['title'], documents: [{ title: 'a', text: 1 }] })).toEqual(
      new Set(['documents.0.text']),
    );
    expect(wrongParamsOf({ ...VALID, rank_fields: [], documents: [{ title: 'a' }] })).toEqual(
      new Set(['documents.0.text']),
    );
  });

  it('has all its wrong fields named at once', () => {
    expect(wrongParamsOf({ documents: [1], top_n: 0, extra: true })).toEqual(
      new Set(['model', 'query', 'documents.0', 'top_n', 'extra']),
    );
  });

  it('goes the short way: its rules are compiled', () => expect(compileChecks(CreateRerankDto)?.(VALID)).toBe(true));
});
