import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import { copyForClass } from '../../common/validation/bounded-fields.js';
import { toValidationError } from '../../common/validation/validation-details.js';
import { acceptsOf } from '../../common/validation/body-rules.js';
import { FOREIGN_OPTIONS } from '../rerank.types.js';
import { CreateRerankDto } from './create-rerank.dto.js';
import { isRerankBody } from './is-rerank-body.js';

const VALID = { model: 'bm25', query: 'keys', documents: ['Keys are rotated.', { text: 'Bananas.' }] };

/** Every field that may be null. */
const OPTIONAL = [
  'top_n',
  'return_documents',
  'max_tokens_per_doc',
  'priority',
  'rank_fields',
  'truncation',
  'parameters',
  ...FOREIGN_OPTIONS,
];

/** `param` of every broken rule. */
function wrongParamsOf(body: object): ReadonlySet<string | null> {
  const options = { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true };
  const errors = validateSync(plainToInstance(CreateRerankDto, copyForClass(CreateRerankDto, body)), options);
  return new Set(errors.length === 0 ? [] : toValidationError(errors).details?.map((detail) => detail.param));
}

describe('CreateRerankDto', () => {
  it.each([
    VALID,
    { ...VALID, documents: [''] },
    { ...VALID, documents: [{ text: '', title: 'kept', nested: { any: ['thing'] } }] },
    { ...VALID, documents: [{ title: 'no text' }], rank_fields: ['title'] },
    { ...VALID, top_n: 1, return_documents: true, max_tokens_per_doc: 1, priority: 0, truncation: false },
    { ...VALID, top_n: 1_000_000 },
    { ...VALID, rank_fields: [], parameters: { truncate: 'END' } },
    { ...VALID, top_k: 3, return_documents: 'true' },
    { ...VALID, ...Object.fromEntries(OPTIONAL.map((name) => [name, null])) },
    { ...VALID, documents: [{ title: 'no text', text: null }], rank_fields: ['title'] },
    ...FOREIGN_OPTIONS.filter((name) => name !== 'top_k').map((name) => ({ ...VALID, [name]: { any: ['value'] } })),
  ])('accepts the body %j', (body) => expect(wrongParamsOf(body)).toEqual(new Set()));

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
    ['top_k', 0],
    ['top_k', 'all'],
    ['return_documents', 'yes'],
    ['return_documents', 'True'],
    ['return_documents', 1],
    ['max_tokens_per_doc', 0],
    ['max_tokens_per_doc', 2.5],
    ['priority', 'high'],
    ['rank_fields', 'title'],
    ['rank_fields', [1]],
    ['truncation', 'yes'],
    ['parameters', []],
    ['parameters', 'END'],
    ['stream', false],
  ])('names the field %s when it is %j', (name, value) => {
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
  ])('names the invalid item when the documents are %j', (documents, param) => {
    expect(wrongParamsOf({ ...VALID, documents })).toEqual(new Set([param]));
  });

  it('accepts documents without text only with rank_fields, and never an invalid text', () => {
    expect(wrongParamsOf({ ...VALID, rank_fields: ['title'], documents: [{ title: 'a', text: 1 }] })).toEqual(
      new Set(['documents.0.text']),
    );
    expect(wrongParamsOf({ ...VALID, rank_fields: [], documents: [{ title: 'a' }] })).toEqual(
      new Set(['documents.0.text']),
    );
  });

  it('names all invalid fields of a body', () => {
    expect(wrongParamsOf({ documents: [1], top_n: 0, extra: true })).toEqual(
      new Set(['model', 'query', 'documents.0', 'top_n', 'extra']),
    );
  });

  it('skips class-validator when the predicate accepts the body', () => {
    expect(acceptsOf(CreateRerankDto)).toBe(isRerankBody);
    expect(isRerankBody(VALID)).toBe(true);
  });

  it('has a predicate that agrees with class-validator on every body', () => {
    const value = fc.oneof(
      fc.constantFrom(null, '', 'a', 'true', 0, 1, 1.5, true, [], ['a'], [1], [{}], [{ text: 'a' }], {}),
      fc.jsonValue(),
    );
    const name = fc.constantFrom('model', 'query', 'documents', ...OPTIONAL, 'extra', 'toString');
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 3 }), fc.boolean(), (changes, isWhole) => {
        const body = { ...(isWhole ? VALID : {}), ...Object.fromEntries(changes) };
        expect(isRerankBody(body)).toBe(wrongParamsOf(body).size === 0);
      }),
      { numRuns: 2_000 },
    );
  });
});
