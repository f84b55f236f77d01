import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../common/json/read.js';
import { normaliseAnswer } from './normalise-answer.js';

class SomeResponse {}

const PLAIN = { kind: 'relay', slug: 'openai-compatible' } as const;
const MENDED = { ...PLAIN, normalise: (item: JsonObject) => ({ ...item, mended: true }) };
const ROW = {
  operationId: 'x',
  operation: 'files.x',
  summary: 'x',
  path: '/files',
  scope: 'batches.read',
  response: SomeResponse,
} as const;
const LIST = { ...ROW, kind: 'list', lists: 'file' } as const;
const ITEM = { ...ROW, kind: 'retrieve', about: { kind: 'file', name: 'file_id' } } as const;
const CREATE = { ...ROW, kind: 'create', creates: { kind: 'file', idField: 'id' } } as const;

type Case = Parameters<typeof normaliseAnswer>;

function normalised(provider: Case[0], route: Case[1], body: unknown) {
  const bytes = Buffer.from(JSON.stringify(body));
  const answer = normaliseAnswer(provider, route, { params: {} }, { status: 200, headers: {}, body: bytes });
  return { json: answer.json, isAsItCame: answer.bytes === bytes };
}

describe('normaliseAnswer', () => {
  it.each([
    ['a list', LIST, { object: 'list', data: [], has_more: true, more: 1 }],
    // `has_more`, or its absence, decides whether a client reads further pages.
    ['a list without its envelope', LIST, { data: [1] }],
    ['an object', ITEM, { id: 'x', odd: true }],
    ['what was made, whatever it is', CREATE, { odd: true }],
  ])('returns a response unchanged: %s', (_what, route, body) => {
    expect(normalised(PLAIN, route, body)).toEqual({ json: body, isAsItCame: true });
  });

  it('returns a response without a documented format unchanged', () => {
    const list = { ...LIST, response: undefined };
    expect(normalised(MENDED, list, { data: [{}] })).toEqual({ json: { data: [{}] }, isAsItCame: true });
  });

  it('normalises each item of a list where the provider needs it', () => {
    expect(normalised(MENDED, LIST, { data: [{ id: 'a' }, 'odd'] }).json).toEqual({
      object: 'list',
      data: [{ id: 'a', mended: true }, 'odd'],
    });
    expect(normalised(MENDED, ITEM, { id: 'a' }).json).toEqual({ id: 'a', mended: true });
    expect(normalised(MENDED, CREATE, { data: [] }).json).toEqual({ data: [], mended: true });
  });

  it.each([
    ['a list without data', LIST, { object: 'list' }, 'an array at body.data'],
    ['a list whose data are none', LIST, { data: { id: 'x' } }, 'an array at body.data'],
    ['a list that is an array', LIST, [], 'an object at body'],
    ['an object without id', ITEM, { error: 'x' }, 'a string at body.id'],
    ['an object that is a text', ITEM, 'x', 'an object at body'],
  ])('refuses a read that does not return the requested object: %s', (_what, route, body, expected) => {
    expect(() => normalised(PLAIN, route, body)).toThrow(`expected ${expected}`);
    expect(() => normalised(MENDED, route, body)).toThrow(`expected ${expected}`);
  });
});
