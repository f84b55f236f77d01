import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { isObject } from '../../common/json/read.js';
import { readEvent } from '../../upstream/streams/event-splitter.js';
import { toolListFilter } from './tool-list-filter.js';
import { withoutDeniedTools } from './tool-list-text.js';

const mayUse = (name: string): boolean => name !== 'off';
const TOOLS = [{ name: 'on', inputSchema: { big: 1 } }, { name: 'off' }];
const LIST = { jsonrpc: '2.0', id: 1, result: { tools: TOOLS, nextCursor: 'n' } };
const FILTERED = { ...LIST, result: { ...LIST.result, tools: [TOOLS[0]] } };
const OTHER = '{ "jsonrpc":"2.0", "id":2, "result":{ "content":[{"tools":["off"]}] } }';

function run(contentType: string, text: string, size = 5, maxBytes = 10_000): string {
  const filter = toolListFilter({ status: 200, headers: { 'content-type': contentType } }, mayUse, maxBytes);
  if (!filter) return text;
  const bytes = Buffer.from(text);
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) out.push(filter.push(bytes.subarray(at, at + size)));
  return Buffer.concat([...out, filter.end()]).toString();
}

describe('toolListFilter: JSON', () => {
  const filter = (text: string): string => run('Application/JSON; charset=utf-8', text);

  it('removes denied tools', () => {
    expect(JSON.parse(filter(JSON.stringify(LIST)))).toEqual(FILTERED);
  });

  it('holds few objects for a list that arrives byte by byte', () => {
    const text = JSON.stringify({ ...LIST, pad: 'x'.repeat(5_000) });
    const filter = toolListFilter({ status: 200, headers: { 'content-type': 'application/json' } }, mayUse, 10_000);
    for (const byte of Buffer.from(text)) filter?.push(Buffer.from([byte]));
    const concat = jest.spyOn(Buffer, 'concat');
    const out = String(filter?.end());
    const pieces = concat.mock.calls.map(([list]) => list.length);
    concat.mockRestore();
    expect(JSON.parse(out)).toEqual({ ...FILTERED, pad: 'x'.repeat(5_000) });
    expect(Math.max(...pieces)).toBeLessThan(10);
  });

  it('does not filter errors', () => {
    for (const status of [300, 404, 502]) {
      for (const type of ['application/json', 'text/event-stream']) {
        expect(toolListFilter({ status, headers: { 'content-type': type } }, mayUse, 10_000)).toBeUndefined();
      }
    }
  });

  it('filters batches', () => {
    expect(JSON.parse(filter(`[${OTHER},${JSON.stringify(LIST)}]`))).toEqual([JSON.parse(OTHER), FILTERED]);
  });

  it.each([OTHER, '', '{ "error": {"code": 1} }', JSON.stringify({ result: { tools: [TOOLS[0]] } })])(
    'does not change the bytes of %j',
    (text) => expect(filter(text)).toBe(text),
  );

  it.each<[string, string, string]>([
    ['numbers', '{"id":9007199254740993,"result":{"tools":[OFF,ON],"n":1.10}}', '[OFF,ON]→[ON]'],
    ['spaces', '{ "id" : 1,\n "result" : { "tools" : [ ON , OFF , ON ] } }', ' ON , OFF , ON → ON , ON '],
    ['nothing is left', '{"id":1,"result":{"tools":[OFF,OFF]}}', '[OFF,OFF]→[]'],
    ['a byte order mark', '\u{feff}{"id":1,"result":{"tools":[OFF]}}', '[OFF]→[]'],
    ['escapes', String.raw`{"id":"a\"[","r\u0065sult":{"t\u006fols":[OFF,ON]}}`, '[OFF,ON]→[ON]'],
    [
      'lists elsewhere',
      '{"tools":[OFF],"result":{"x":{"tools":[OFF]},"tools":[OFF,ON],"y":["z",[OFF]]}}',
      '[OFF,ON]→[ON]',
    ],
    ['a batch in a batch', '[[{"result":{"tools":[OFF]}}],{"result":{"tools":[ON,OFF]}}]', '[ON,OFF]→[ON]'],
    ['a list that comes twice', '{"result":{"tools":[ON,OFF],"tools":[ON]}}', '[ON,OFF]→[ON]'],
  ])('changes nothing else: %s', (_what, text, change) => {
    const [before = '', after = ''] = change.split('→');
    const filled = (template: string): string =>
      template.replaceAll('ON', '{"name":"on","n":1e400,"s":"]},"}').replaceAll('OFF', '{"name":"off"}');
    expect(filter(filled(text))).toBe(filled(text.replace(before, after)));
  });

  it('agrees with JSON.parse about every text', () => {
    const tool = fc.oneof(fc.record({ name: fc.constantFrom('on', 'off'), x: fc.jsonValue() }), fc.jsonValue());
    const result = fc.record({ tools: fc.array(tool), x: fc.jsonValue() });
    const message = fc.oneof(fc.record({ id: fc.nat(), result, tools: fc.array(tool) }), fc.jsonValue());
    const isOn = (value: unknown): boolean => isObject(value) && value['name'] === 'on';
    const expected = (value: unknown): unknown =>
      isObject(value) && isObject(value['result']) && Array.isArray(value['result']['tools'])
        ? { ...value, result: { ...value['result'], tools: value['result']['tools'].filter(isOn) } }
        : value;
    const onlyOn = (text: string): string =>
      String(withoutDeniedTools(Buffer.from(text), text.startsWith('['), (name) => name === 'on') ?? text);
    fc.assert(
      fc.property(fc.oneof(message, fc.array(message)), fc.constantFrom(0, 2), (value, indent) => {
        const json = JSON.stringify(value, undefined, indent);
        const wanted: unknown = JSON.parse(json);
        expect(JSON.parse(onlyOn(json))).toEqual(Array.isArray(wanted) ? wanted.map(expected) : expected(wanted));
      }),
    );
  });

  it('fails for invalid JSON and for a list that is too long', () => {
    expect(() => filter('{"result":')).toThrow('not JSON');
    expect(() => run('application/json', JSON.stringify(LIST), 5, 20)).toThrow('too long');
  });
});

describe('toolListFilter: events', () => {
  const filter = (text: string): string => run('text/event-stream', text);
  const event = (value: unknown): string => `id: 7\nevent: message\ndata: ${JSON.stringify(value)}\n\n`;

  it('removes denied tools', () => {
    const before = `: comment\n\nid: 1\ndata: \n\ndata: ${OTHER}\n\n`;
    expect(filter(before + event(LIST))).toBe(before + event(FILTERED));
  });

  it('reads data of several lines', () => {
    const lines = JSON.stringify(LIST, undefined, 1)
      .split('\n')
      .map((line) => `data: ${line}\r\n`);
    const { data } = readEvent(Buffer.from(filter(`${lines.join('')}\r\n`)));
    expect(JSON.parse(data ?? '')).toEqual(FILTERED);
    expect(data).toContain('\n');
  });

  it.each(['', ': comment\n'])('accepts a byte order mark before %j', (first) => {
    expect(filter(`\u{feff}${first}${event(LIST)}`).replace('\u{feff}', '')).toBe(first + event(FILTERED));
    expect(filter(`\u{feff}${first}${event(1)}`)).toBe(`\u{feff}${first}${event(1)}`);
  });

  it('does not change the endpoint event of the older transport', () => {
    const text = 'event: endpoint\ndata: /messages?sessionId=a\n\n';
    expect(filter(text)).toBe(text);
  });

  it('forwards an event as soon as it is complete', () => {
    expect(filter('data: 1\n\ndata: 2')).toBe('data: 1\n\n');
  });
});

describe('toolListFilter: answers of another type', () => {
  it.each([
    '',
    'text/plain',
    'application/json-rpc',
    'application/json, application/json',
    'text/plain; application/json',
    'text/event-stream-x',
  ])('fails for a list with the content type %j, since some clients would parse it', (type) => {
    expect(() => run(type, JSON.stringify(LIST))).toThrow('neither JSON nor a stream');
  });

  it('forwards an answer without a body', () => {
    const filter = toolListFilter({ status: 202, headers: {} }, mayUse, 10);
    expect(String(filter?.push(Buffer.alloc(0)))).toBe('');
    expect(String(filter?.end())).toBe('');
  });
});
