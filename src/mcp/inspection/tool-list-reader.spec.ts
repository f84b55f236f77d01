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
const SEEN = [
  { name: 'search', description: 'Finds' },
  { name: 'create', description: undefined },
];

function read(value: unknown, isEventStream = false): unknown {
  const body = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  return readToolList({ isEventStream, body, ids: IDS });
}

describe('the tools of an answer', () => {
  it('are those of the request', () => expect(read(LIST)).toEqual(SEEN));

  it('may be in a batch', () => {
    const other = { jsonrpc: '2.0', id: 'two', result: { tools: [{ name: 'delete' }] } };
    expect(read([{ id: 3, result: {} }, LIST, other])).toEqual([...SEEN, { name: 'delete', description: undefined }]);
  });

  it('may stand behind a byte order mark', () => {
    expect(read(`\u{feff}${JSON.stringify(LIST)}`)).toEqual(SEEN);
    expect(read(`\u{feff}data: ${JSON.stringify(LIST)}\n\n`, true)).toEqual(SEEN);
  });

  it('may be in an event, of several lines and behind others', () => {
    const lines = JSON.stringify(LIST, undefined, 1)
      .split('\n')
      .map((line) => `data: ${line}\r\n`);
    const before = ': comment\n\nid: 1\ndata: \n\nevent: endpoint\ndata: /x\n\ndata: {"method":"notifications/x"}\n\n';
    expect(read(`${before}${lines.join('')}\r\ndata: {"half`, true)).toEqual(SEEN);
  });

  it('may have the names of what every object has', () => {
    const text = '{"id":1,"result":{"tools":[{"name":"__proto__"},{"__proto__":{"name":"x"}},{"name":"constructor"}]}}';
    expect(read(text)).toMatchObject([{ name: '__proto__' }, { name: 'constructor' }]);
  });

  it.each<[string, unknown]>([
    ['no JSON', '{"id":1,"result":{"tools":[{"name":"x"}'],
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
  ])('are none in %s', (_what, value) => expect(read(value)).toEqual([]));

  it('are none in an event that is not over, or is of another type', () => {
    expect(read(`data: ${JSON.stringify(LIST)}\n`, true)).toEqual([]);
    expect(read(`event: other\ndata: ${JSON.stringify(LIST)}\n\n`, true)).toEqual([]);
    expect(read(JSON.stringify(LIST), true)).toEqual([]);
  });
});

describe('a gatherer', () => {
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

  it('has the whole body at the end, once', () => {
    expect(gather(10, new GatheredBytes(10), ['01234', '56789'])).toBe('0123456789');
  });

  it('lets go of a body that is too long, and gives back the room that it took', () => {
    const room = new GatheredBytes(10);
    expect(gather(9, room, ['01234', '56789', '0'])).toBeUndefined();
    expect(gather(99, room, ['01234', '56789', '0', '1'])).toBeUndefined();
    expect(gather(10, room, ['0123456789'])).toBe('0123456789');
  });

  it('has nothing where nothing came', () => expect(gather(10, new GatheredBytes(10), [])).toBeUndefined());
});
