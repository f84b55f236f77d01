import { describe, expect, it } from '@jest/globals';
import { McpError } from '../mcp-error.js';
import { checkMcpHeaders } from './header-match.js';
import { inspectBody, type InspectedBody } from './inspect-body.js';
import { denyToolCalls } from './tool-denial.js';

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'safe', arguments: { name: 'x' } } };
const LONG = '9007199254740993';
const LIST = { jsonrpc: '2.0', id: 'b', method: 'tools/list' };

const read = (text: string): InspectedBody => inspectBody(Buffer.from(text));
const inspected = (value: unknown): InspectedBody => read(JSON.stringify(value));

function rpcCodeOf(run: () => unknown): number | undefined {
  try {
    run();
  } catch (error) {
    return error instanceof McpError ? error.rpcCode : undefined;
  }
  return undefined;
}

describe('inspectBody', () => {
  it('returns kind, method, id and subject of a request', () => {
    expect(inspected(CALL)).toEqual({
      isBatch: false,
      messages: [{ kind: 'request', method: 'tools/call', id: 1, subject: 'safe' }],
    });
  });

  it('reads every message of a batch', () => {
    const batch = [CALL, { method: 'notifications/x' }, { id: 2, result: {} }, { id: 3, error: {} }];
    const { isBatch, messages } = inspected(batch);
    expect(isBatch).toBe(true);
    expect(messages.map(({ kind }) => kind)).toEqual(['request', 'notification', 'response', 'response']);
  });

  it('accepts an error without an id', () => {
    for (const error of [{ error: {} }, { id: null, error: {} }]) {
      expect(inspected(error).messages).toMatchObject([{ kind: 'response', method: undefined }]);
    }
  });

  it.each([
    ['resources/read', { uri: 'file:///a' }, 'file:///a'],
    ['prompts/get', { name: 'p' }, 'p'],
    ['ping', undefined, undefined],
  ])('reads the subject of %s', (method, params, subject) => {
    expect(inspected({ id: 1, method, params }).messages[0]?.subject).toBe(subject);
  });

  it.each([
    ['invalid JSON', '{"a":', -32700],
    ['nothing', '', -32700],
    ['a byte order mark', '\u{feff}{"id":1,"method":"ping"}', -32700],
    ['a text', '"text"', -32600],
    ['an empty batch', '[]', -32600],
    ['too long a batch', JSON.stringify(Array(101).fill(LIST)), -32600],
    ['a batch in a batch', '[[{"id":1,"method":"ping"}]]', -32600],
    ['a method that is not a string', '{"id":1,"method":["tools/call"]}', -32600],
    ['an id that is none', '{"id":{},"method":"ping"}', -32600],
    ['an id that is too long', JSON.stringify({ id: 'i'.repeat(1_025), method: 'ping' }), -32600],
    ['a number that is too long as an id', `{"id":${'9'.repeat(1_025)},"method":"ping"}`, -32600],
    ['a result of no request', '{"result":{}}', -32600],
    ['neither method nor result', '{"id":1}', -32600],
    ['a tool call without a tool', '{"id":1,"method":"tools/call","params":{}}', -32600],
    ['a tool call with a list of names', '{"id":1,"method":"tools/call","params":{"name":["a"]}}', -32600],
    ['a tool call with a number for a name', `{"id":${LONG},"method":"tools/call","params":{"name":${LONG}}}`, -32600],
  ])('refuses %s', (_what, text, code) => {
    expect(rpcCodeOf(() => read(text))).toBe(code);
  });

  it('refuses a body that is not UTF-8', () => {
    const body = Buffer.concat([Buffer.from('{"id":1,"method":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]);
    expect(rpcCodeOf(() => inspectBody(body))).toBe(-32700);
  });
});

describe('inspectBody: keys that parsers may read differently', () => {
  const wrapped = (inner: string): string => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${inner}}}`;

  it.each([
    ['a method twice', '{"id":1,"method":"tools/list","method":"tools/call","params":{"name":"a"}}'],
    ['a method twice, once escaped', String.raw`{"id":1,"m\u0065thod":"tools/list","method":"ping"}`],
    ['any key twice', '{"id":1,"method":"ping","x":1,"x":2}'],
    ['Method', '{"id":1,"method":"tools/list","Method":"tools/call"}'],
    ['paramſ', '{"id":1,"method":"tools/call","params":{"name":"a"},"param\u017f":{"name":"b"}}'],
    ['paramſ, escaped', String.raw`{"id":1,"method":"ping","param\u017f":{}}`],
    ['ｍethod in full width', '{"id":1,"method":"ping","\uff4dethod":"tools/call"}'],
    ['ıd', '{"id":1,"method":"ping","\u0131d":2}'],
    ['a zero-width joiner', '{"id":1,"method":"ping","met\u200dhod":"tools/call"}'],
    ['a name twice', wrapped('"name":"a","name":"b"')],
    ['Name', wrapped('"name":"a","Name":"b"')],
    ['NAME alone', wrapped('"name":"a","NAME":"b"')],
    ['a name twice around an inner object', wrapped('"name":"a","arguments":{"q":[{}]},"name":"b"')],
    ['in the second of a batch', `[${wrapped('"name":"a"')},${wrapped('"name":"a","Name":"b"')}]`],
  ])('refuses %s', (_what, text) => {
    expect(rpcCodeOf(() => read(text))).toBe(-32600);
  });

  it.each([
    ['in the arguments', wrapped('"name":"a","arguments":{"Name":1,"name":2,"Method":3}')],
    ['in strings', wrapped(String.raw`"name":"a","arguments":{"x":"\"Name\":1,\"name\":"}`)],
    ['the same in two messages', `[${wrapped('"name":"a"')},${wrapped('"name":"b"')}]`],
    ['in a result, which is the client’s own', '{"id":1,"result":{"Name":1,"roots":[{"name":"a"},{"name":"b"}]}}'],
    ['in other places', wrapped('"name":"a","_meta":{"Name":1},"x":{"name":1}')],
    ['escaped backslashes', wrapped(String.raw`"name":"a\\","arguments":{"\\":"\\\""}`)],
  ])('accepts such keys %s', (_what, text) => {
    expect(rpcCodeOf(() => read(text))).toBeUndefined();
  });
});

describe('checkMcpHeaders', () => {
  const NEW = { 'mcp-protocol-version': '2026-07-28' };
  const code = (headers: Record<string, string>, value: unknown = CALL): number | undefined =>
    rpcCodeOf(() => checkMcpHeaders(headers, inspected(value)));

  it.each([
    [{}],
    [{ 'mcp-method': 'tools/call' }],
    [{ 'mcp-method': 'tools/call', 'mcp-name': ' safe ' }],
    [{ 'mcp-name': `=?base64?${Buffer.from('safe').toString('base64')}?=` }],
  ])('accepts the headers %j', (headers) => {
    expect(code({ ...NEW, ...headers })).toBeUndefined();
  });

  it.each([
    [{ 'mcp-method': 'tools/list' }],
    [{ 'mcp-name': 'other' }],
    [{ 'mcp-name': 'Safe' }],
    [{ 'mcp-name': `=?base64?${Buffer.from('other').toString('base64')}?=` }],
    [{ 'mcp-name': '=?base64?/w==?=' }],
    [{ 'mcp-name': 'safe, safe' }],
  ])('refuses the headers %j', (headers) => {
    expect(code({ ...NEW, ...headers })).toBe(-32020);
  });

  it('does not check the subject of other methods', () => {
    const task = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { taskId: 't-1' } };
    expect(code({ ...NEW, 'mcp-method': 'tasks/get', 'mcp-name': 't-1' }, task)).toBeUndefined();
    expect(code({ ...NEW, 'mcp-method': 'tools/call', 'mcp-name': 't-1' }, task)).toBe(-32020);
  });

  it('refuses a batch, which this revision does not have', () => expect(code(NEW, [CALL])).toBe(-32020));

  it('does not check headers of older revisions', () => {
    expect(code({ 'mcp-protocol-version': '2025-11-25', 'mcp-name': 'other' })).toBeUndefined();
    expect(code({ 'mcp-name': 'other' })).toBeUndefined();
  });

  it.each(['DRAFT-2025-v3', 'foo', '2026-7-28', '2026-07-28-rc', '9', ''])(
    'does not treat %j as a later revision',
    (revision) => {
      expect(code({ 'mcp-protocol-version': revision, 'mcp-name': 'other' })).toBeUndefined();
      expect(code({ 'mcp-protocol-version': revision }, [CALL])).toBeUndefined();
    },
  );

  it('checks headers of later revisions', () => {
    expect(code({ 'mcp-protocol-version': '2027-01-01', 'mcp-name': 'other' })).toBe(-32020);
  });
});

describe('denyToolCalls', () => {
  const mayUse = (name: string): boolean => name === 'safe';
  const forbidden = { ...CALL, id: 2, params: { name: 'off' } };

  it('accepts all other messages', () => {
    expect(denyToolCalls(inspected([CALL, LIST, { method: 'x' }, { id: 1, result: {} }]), mayUse)).toBeUndefined();
  });

  it('answers a denied call as if the tool did not exist', () => {
    const denial = denyToolCalls(inspected(forbidden), mayUse);
    expect(denial).toMatchObject({ status: 200, tool: 'off' });
    expect(JSON.parse(denial?.text ?? '')).toMatchObject({
      jsonrpc: '2.0',
      id: 2,
      error: { code: -32602, message: 'Unknown tool: off' },
    });
  });

  it('repeats a long name only in part', () => {
    const long = { ...CALL, params: { name: 'n'.repeat(1_000_000) } };
    expect(denyToolCalls(inspected(long), mayUse)?.text).toContain(`Unknown tool: ${'n'.repeat(128)}…"`);
  });

  it('refuses the whole batch when one call is denied', () => {
    const denial = denyToolCalls(inspected([CALL, forbidden, { method: 'notifications/x' }]), mayUse);
    expect(denial?.tool).toBe('off');
    expect(JSON.parse(denial?.text ?? '')).toMatchObject([
      { id: 1, error: { code: -32600 } },
      { id: 2, error: { code: -32602 } },
    ]);
  });

  it.each([LONG, '-18446744073709551615'])('answers with the exact id %s', (id) => {
    const call = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"off","arguments":{"n":${id}}}}`;
    expect(denyToolCalls(read(call), mayUse)?.text).toContain(`"id":${id},`);
    expect(denyToolCalls(read(`[${call},${JSON.stringify(LIST)}]`), mayUse)?.text).toMatch(
      new RegExp(`"id":${id},.*"id":"b",`),
    );
  });

  it('answers a denied notification without a body', () => {
    const { id: _id, ...silent } = forbidden;
    expect(denyToolCalls(inspected(silent), mayUse)).toEqual({ status: 202, text: '', tool: 'off' });
  });
});

it('inspectBody refuses more lists and objects than a message needs, before it is parsed', () => {
  expect(() => read('['.repeat(4_000_000))).toThrow('more than 200000 lists and objects');
  expect(() => read(`{"jsonrpc":"2.0","id":1,"method":"ping","params":[${'{},'.repeat(200_000)}{}]}`)).toThrow(
    'more than 200000 lists and objects',
  );
});

it('inspectBody refuses keys that are expensive to fold without folding them', () => {
  const marks = `a${'\u0315\u0300\u05ae\u0301'.repeat(200_000)}`;
  const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`ä${index}`, 1]));
  for (const extra of [{ [marks]: 1 }, { params: many }]) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', ...extra }));
    expect(() => inspectBody(body)).toThrow('spelling');
  }
});
