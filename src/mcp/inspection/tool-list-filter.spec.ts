import { describe, expect, it, jest } from '@jest/globals';
import { toolListFilter } from './tool-list-filter.js';

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

  it('takes out what the caller may not use', () => {
    expect(JSON.parse(filter(JSON.stringify(LIST)))).toEqual(FILTERED);
  });

  it('holds few objects for a list that comes byte by byte', () => {
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

  it('looks into batches', () => {
    expect(JSON.parse(filter(`[${OTHER},${JSON.stringify(LIST)}]`))).toEqual([JSON.parse(OTHER), FILTERED]);
  });

  it.each([OTHER, '', '{ "error": {"code": 1} }', JSON.stringify({ result: { tools: [TOOLS[0]] } })])(
    'leaves the bytes of %j alone',
    (text) => expect(filter(text)).toBe(text),
  );

  it('fails for what is no JSON, and for what is too long', () => {
    expect(() => filter('{"result":')).toThrow('not JSON');
    expect(() => run('application/json', JSON.stringify(LIST), 5, 20)).toThrow('too long');
  });
});

describe('toolListFilter: events', () => {
  const filter = (text: string): string => run('text/event-stream', text);
  const event = (value: unknown): string => `id: 7\nevent: message\ndata: ${JSON.stringify(value)}\n\n`;

  it('takes out what the caller may not use', () => {
    const before = `: comment\n\nid: 1\ndata: \n\ndata: ${OTHER}\n\n`;
    expect(filter(before + event(LIST))).toBe(before + event(FILTERED));
  });

  it('reads data of several lines', () => {
    const lines = JSON.stringify(LIST, undefined, 1)
      .split('\n')
      .map((line) => `data: ${line}\r\n`);
    expect(filter(`${lines.join('')}\r\n`)).toBe(`data: ${JSON.stringify(FILTERED)}\n\n`);
  });

  it('leaves the endpoint of the older transport alone', () => {
    const text = 'event: endpoint\ndata: /messages?sessionId=a\n\n';
    expect(filter(text)).toBe(text);
  });

  it('passes an event on as soon as it is whole, and none that is not', () => {
    expect(filter('data: 1\n\ndata: 2')).toBe('data: 1\n\n');
  });
});

it('does not touch other answers', () => {
  expect(toolListFilter({ status: 202, headers: {} }, mayUse, 10)).toBeUndefined();
});
