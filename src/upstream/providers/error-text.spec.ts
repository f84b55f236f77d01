import { describe, expect, it } from '@jest/globals';
import { anyOf, detail, nestedError, plainMessage } from './error-text.js';

describe('plainMessage', () => {
  it.each([{ message: 'no' }, { id: 'x', message: 'no' }, { Message: 'no' }])('reads the message of %j', (body) => {
    expect(plainMessage(body)).toEqual({ message: 'no' });
  });
});

describe('nestedError', () => {
  it.each([
    [{ error: { message: 'no', type: 't', param: 'limit', code: 'c' } }, { message: 'no', param: 'limit' }],
    [{ error: { message: 'no', param: null } }, { message: 'no' }],
    [{ error: { code: 'INVALID_ARGUMENT', message: 'no' }, status: 400 }, { message: 'no' }],
    [{ error: 'no' }, { message: 'no' }],
  ])('reads the nested error of %j', (body, text) => {
    expect(nestedError(body)).toEqual(text);
  });
});

describe('detail', () => {
  it('reads a detail that is a string', () => {
    expect(detail({ detail: 'no' })).toEqual({ message: 'no' });
  });

  it('joins a list of broken rules in detail, and returns the first field', () => {
    const list = [
      { type: 'missing', loc: ['body', 'query'], msg: 'Field required' },
      { type: 'string_type', loc: ['body', 'documents', 0], msg: 'Input should be a string' },
    ];
    expect(detail({ detail: list })).toEqual({
      message: 'query: Field required; documents.0: Input should be a string',
      param: 'query',
    });
  });

  it('ignores items of detail in another form', () => {
    expect(detail({ detail: [null, 'x', { msg: 7 }, { msg: 'no' }] })).toEqual({ message: 'no' });
  });
});

describe('every form', () => {
  const forms = { plainMessage, nestedError, detail, all: anyOf(nestedError, detail, plainMessage) };
  const unknown = [
    null,
    undefined,
    'text',
    7,
    [],
    {},
    { message: 7 },
    { message: '' },
    { error: {} },
    { error: null },
    { detail: {} },
    { detail: [] },
  ];

  it.each(Object.entries(forms))('%s reads nothing from a body of another form', (_name, form) => {
    for (const body of unknown) expect(form(body)).toBeUndefined();
  });

  it('anyOf returns the first form that fits', () => {
    expect(forms.all({ error: { message: 'a' }, message: 'b' })).toEqual({ message: 'a' });
    expect(forms.all({ message: 'b' })).toEqual({ message: 'b' });
  });
});
