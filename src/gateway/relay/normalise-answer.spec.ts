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

function normalised(provider: Case[0], route: Case[1], body: unknown, page: Omit<Case[2], 'params'> = {}) {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const answer = normaliseAnswer(provider, route, { params: {}, ...page }, { status: 200, headers: {}, body: bytes });
  return { json: answer.json, isAsItCame: answer.bytes === bytes, text: String(answer.bytes) };
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `file-${index}` }));

describe('normaliseAnswer', () => {
  it.each([
    ['a list', LIST, { object: 'list', data: [], has_more: true, more: 1 }],
    ['an object', ITEM, { id: 'x', odd: true }],
    ['what was made, whatever it is', CREATE, { odd: true }],
  ])('returns a response unchanged: %s', (_what, route, body) => {
    expect(normalised(PLAIN, route, body)).toMatchObject({ json: body, isAsItCame: true });
  });

  it('returns a response without a documented format unchanged', () => {
    const list = { ...LIST, response: undefined };
    const body = { object: 'list', data: [{}], has_more: false };
    expect(normalised(MENDED, list, body)).toMatchObject({ json: body, isAsItCame: true });
  });

  it('returns a response unchanged that normalising does not change', () => {
    const same = { ...PLAIN, normalise: (item: JsonObject) => ({ ...item }) };
    const text = '{ "object": "list", "data": [{ "id": "a", "n": 1.50 }], "has_more": false }';
    expect(normalised(same, LIST, text)).toMatchObject({ isAsItCame: true, text });
    expect(normalised(same, ITEM, '{ "id": "a" }').isAsItCame).toBe(true);
  });

  it.each([
    // The server's pages may be smaller than the limit.
    [ids(1), {}, true],
    [ids(50), { after: 'file-x' }, true],
    [ids(50), { before: 'file-x' }, true],
    [ids(0), {}, false],
    [ids(0), { after: 'file-x' }, false],
    // A client cannot ask for the items after one without an id, or before it.
    [[{ id: 'a' }, {}], {}, false],
    [[{ id: 'a' }, {}], { before: 'x' }, true],
    [[{}, { id: 'a' }], { before: 'x' }, false],
  ])('fills in what is missing of an envelope (%#)', (data, page, hasMore) => {
    expect(normalised(PLAIN, LIST, { data }, page).json).toEqual({
      object: 'list',
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: hasMore,
    });
  });

  it('ends the list of a server that repeats the items before the cursor, or after it', () => {
    const { json } = normalised(PLAIN, LIST, { data: ids(50) }, { after: 'file-39' });
    expect(json).toMatchObject({ data: ids(50).slice(40), has_more: false, first_id: 'file-40', last_id: 'file-49' });
    const backwards = normalised(PLAIN, LIST, { data: ids(50) }, { before: 'file-10' }).json;
    expect(backwards).toMatchObject({ data: ids(50).slice(0, 10), has_more: false, last_id: 'file-9' });
    const first = normalised(PLAIN, LIST, { data: ids(50) }, { before: 'file-0' }).json;
    expect(first).toMatchObject({ data: [], has_more: false });
  });

  it('goes on where a page starts with the cursor, until nothing follows it', () => {
    const rest = normalised(PLAIN, LIST, { data: ids(20) }, { after: 'file-0' }).json;
    expect(rest).toMatchObject({ data: ids(20).slice(1), has_more: true });
    const end = normalised(PLAIN, LIST, { data: ids(1) }, { after: 'file-0' }).json;
    expect(end).toMatchObject({ data: [], has_more: false, first_id: null, last_id: null });
  });

  it('fills in first_id and last_id where the API requires them', () => {
    const body = { object: 'list', data: [{ id: 'a' }, { id: 'b' }], has_more: true };
    expect(normalised(PLAIN, LIST, body).isAsItCame).toBe(true);
    expect(normalised(PLAIN, { ...LIST, needsIds: true }, body).json).toEqual({ ...body, first_id: 'a', last_id: 'b' });
    const whole = { ...body, first_id: null, last_id: null };
    expect(normalised(PLAIN, { ...LIST, needsIds: true }, whole).isAsItCame).toBe(true);
  });

  it.each(['', '\uFEFF'])('keeps the digits of long numbers in a list that it completes (%j)', (mark) => {
    const { text } = normalised(PLAIN, LIST, `${mark}{"data":[{"id":"a","size":12345678901234567890}]}`);
    expect(text).toContain('"size":12345678901234567890');
    expect(JSON.parse(text)).toMatchObject({ has_more: true });
  });

  it('normalises each item of a list where the provider needs it', () => {
    expect(normalised(MENDED, LIST, { data: [{ id: 'a' }, 'odd'] }).json).toMatchObject({
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
    ['an object that is a text', ITEM, '"x"', 'an object at body'],
  ])('refuses a read that does not return the requested object: %s', (_what, route, body, expected) => {
    expect(() => normalised(PLAIN, route, body)).toThrow(`expected ${expected}`);
    expect(() => normalised(MENDED, route, body)).toThrow(`expected ${expected}`);
  });
});
