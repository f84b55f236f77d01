import { describe, expect, it } from '@jest/globals';
import { AnswerGatherer, GatheredBytes } from './answer-gatherer.js';
import { readToolList } from './tool-list-reader.js';

const IDS = new Set([1, 'two']);
const LIST = {
  jsonrpc: '2.0',
  id: 1,
  result: {
    tools: [
      { name: 'search', description: 'Finds' },
      { name: 'create', description: 7 },
    ],
    nextCursor: 'n',
  },
};
const HASH = /^[\w-]{43}$/;
const SEEN = [
  { name: 'search', description: 'Finds', hash: expect.stringMatching(HASH) },
  { name: 'create', description: undefined, hash: expect.stringMatching(HASH) },
];

function read(value: unknown, isEventStream = false): unknown {
  const body = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  return readToolList({ isEventStream, body, ids: IDS });
}

describe('readToolList', () => {
  it('returns the tools of the answer', () => expect(read(LIST)).toEqual(SEEN));

  it('reads a batch', () => {
    const other = { jsonrpc: '2.0', id: 'two', result: { tools: [{ name: 'delete' }] } };
    expect(read([{ id: 3, result: {} }, LIST, other])).toMatchObject([...SEEN, { name: 'delete' }]);
  });

  it('accepts a byte order mark', () => {
    expect(read(`\u{feff}${JSON.stringify(LIST)}`)).toEqual(SEEN);
    expect(read(`\u{feff}data: ${JSON.stringify(LIST)}\n\n`, true)).toEqual(SEEN);
  });

  it('reads an event of several lines after other events', () => {
    const lines = JSON.stringify(LIST, undefined, 1)
      .split('\n')
      .map((line) => `data: ${line}\r\n`);
    const before = ': comment\n\nid: 1\ndata: \n\nevent: endpoint\ndata: /x\n\ndata: {"method":"notifications/x"}\n\n';
    expect(read(`${before}${lines.join('')}\r\ndata: {"half`, true)).toEqual(SEEN);
  });

  it('accepts tools with the names of built-in properties', () => {
    const text = '{"id":1,"result":{"tools":[{"name":"__proto__"},{"__proto__":{"name":"x"}},{"name":"constructor"}]}}';
    expect(read(text)).toMatchObject([{ name: '__proto__' }, { name: 'constructor' }]);
  });

  it.each<[string, unknown]>([
    ['invalid JSON', '{"id":1,"result":{"tools":[{"name":"x"}'],
    ['nothing', ''],
    ['null', 'null'],
    ['the answer to another request', { ...LIST, id: 2 }],
    ['an id that is only alike', { ...LIST, id: '1' }],
    ['no id', { result: LIST.result }],
    ['the id null', { ...LIST, id: null }],
    ['an error', { id: 1, error: { code: -32603, message: 'no' } }],
    ['a result that is an error', { id: 1, result: { isError: true, tools: LIST.result.tools } }],
    ['no list', { id: 1, result: { tools: { name: 'x' } } }],
    ['a list of something else', { id: 1, result: { tools: ['x', null, 7, {}, [{ name: 'x' }], { name: 7 }] } }],
    ['tools that are deeper', { id: 1, result: { content: LIST.result } }],
    ['a stream that is called JSON', `data: ${JSON.stringify(LIST)}\n\n`],
  ])('returns nothing for %s', (_what, value) => expect(read(value)).toEqual([]));

  it('ignores an incomplete event and one of another type', () => {
    expect(read(`data: ${JSON.stringify(LIST)}\n`, true)).toEqual([]);
    expect(read(`event: other\ndata: ${JSON.stringify(LIST)}\n\n`, true)).toEqual([]);
    expect(read(JSON.stringify(LIST), true)).toEqual([]);
  });
});

describe('AnswerGatherer', () => {
  function gather(maxBytes: number, room: GatheredBytes, pieces: readonly string[]): string | undefined {
    let text: string | undefined;
    const gatherer = new AnswerGatherer(maxBytes, room, (body) => {
      room.give(body.length);
      text = body.toString();
    });
    for (const piece of pieces) gatherer.push(Buffer.from(piece));
    gatherer.end();
    gatherer.end();
    return text;
  }

  it('returns the whole body at the end, once', () => {
    expect(gather(10, new GatheredBytes(10), ['01234', '56789'])).toBe('0123456789');
  });

  it('drops a body that is too long and releases its bytes', () => {
    const room = new GatheredBytes(10);
    expect(gather(9, room, ['01234', '56789', '0'])).toBeUndefined();
    expect(gather(99, room, ['01234', '56789', '0', '1'])).toBeUndefined();
    expect(gather(10, room, ['0123456789'])).toBe('0123456789');
  });

  it('returns nothing for an empty body', () => expect(gather(10, new GatheredBytes(10), [])).toBeUndefined());
});
