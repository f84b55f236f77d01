import { describe, expect, it } from '@jest/globals';
import { outcomeReader } from './answer-outcome.js';
import { ReportedOutcome } from './reported-outcome.js';
import { inspectBody, type InspectedBody } from './inspect-body.js';
import { cpuTimeOf } from '../../../test/support/cpu-time.js';

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search' } };
const LONG = 'text with "quotes", \\ and \n lines, '.repeat(20);
const FINE = { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: LONG }] } };
const TOOL_ERROR = { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: LONG }], isError: true } };
const RPC_ERROR = { jsonrpc: '2.0', id: 1, error: { code: -32_602, message: LONG, data: { code: 7 } } };
const TOOL = { kind: 'tool_error', code: undefined };
const RPC = { kind: 'rpc_error', code: -32_602 };

function request(body: object = CALL): InspectedBody {
  return inspectBody(Buffer.from(JSON.stringify(body)));
}

interface Read {
  readonly text: string;
  readonly type?: string;
  readonly of?: InspectedBody;
  /** Bytes of each piece. */
  readonly pieces?: number;
}

function read({
  text,
  type = 'application/json',
  of = request(),
  pieces = Infinity,
}: Read): ReportedOutcome | undefined {
  const outcome = ReportedOutcome.of(of);
  const reader = outcome && outcomeReader(outcome, { status: 200, headers: { 'content-type': type } });
  if (reader === undefined) return undefined;
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieces) reader.push(bytes.subarray(at, at + pieces));
  reader.end();
  return outcome;
}

const STREAM = 'text/event-stream; charset=utf-8';

function eventOf(message: object, end = '\n'): string {
  return `id: 7${end}event: message${end}data: ${JSON.stringify(message)}${end}${end}`;
}

describe('the outcome of an answer', () => {
  it.each([
    ['a result', FINE, undefined],
    ['the error of a tool', TOOL_ERROR, TOOL],
    ['a JSON-RPC error', RPC_ERROR, RPC],
    ['a key isError that is false', { ...FINE, result: { isError: false } }, undefined],
    ['a key isError that is not of the result', { ...FINE, result: { content: [{ isError: true }] } }, undefined],
    ['a key error inside the result', { ...FINE, result: { error: { code: 1 } } }, undefined],
    [
      'the texts of a failure inside strings',
      { ...FINE, result: { content: '{"isError":true},"error":{' } },
      undefined,
    ],
    ['the answer to another request', { ...RPC_ERROR, id: 2 }, undefined],
    ['an error without an id', { ...RPC_ERROR, id: null }, RPC],
    ['an error with a code that is not a number', { ...RPC_ERROR, error: { code: 'x' } }, { ...RPC, code: undefined }],
    ['an error with a huge code', { ...RPC_ERROR, error: { code: 1e300 } }, { ...RPC, code: undefined }],
  ])('reads %s in pieces of any size, as JSON and as an event', (_what, message, failure) => {
    for (const space of [undefined, 2]) {
      const text = JSON.stringify(message, null, space);
      for (const pieces of [1, 2, 3, 7, 64, Infinity]) {
        expect(read({ text, pieces })?.failure).toEqual(failure);
        for (const end of ['\n', '\r\n', '\r']) {
          const stream = `: hello${end}${end}${eventOf(message, end)}`;
          expect(read({ text: stream, type: STREAM, pieces })?.failure).toEqual(failure);
        }
      }
    }
  });

  it('agrees with a JSON parser on ten thousand random messages in random pieces', () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const PARTS = [
      'isError',
      'error',
      'result',
      'id',
      'code',
      '\\',
      '"',
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      'é',
      'x'.repeat(40),
    ];
    const text = (): string => Array.from({ length: random(6) }, () => PARTS[random(PARTS.length)]).join('');
    const value = (depth: number): unknown => {
      const kind = random(depth > 3 ? 4 : 6);
      if (kind === 0) return text();
      if (kind === 1) return random(100) - 50;
      if (kind === 2) return random(2) === 0;
      if (kind === 3) return null;
      if (kind === 4) return Array.from({ length: random(3) }, () => value(depth + 1));
      return Object.fromEntries(
        Array.from({ length: random(4) }, () => [PARTS[random(PARTS.length)], value(depth + 1)]),
      );
    };
    for (let round = 0; round < 10_000; round += 1) {
      const result = { ...Object(value(2)), ...(random(2) === 0 ? { isError: random(2) === 0 } : {}) };
      const code = random(9);
      const hasError = random(2) === 0;
      const message = hasError ? { error: { message: text(), code }, id: 1 } : { id: 1, result };
      const expected = hasError ? code : result.isError === true ? 'tool' : undefined;
      const outcome = read({ text: JSON.stringify(message), pieces: 1 + random(50) })?.failure;
      expect(outcome?.kind === 'tool_error' ? 'tool' : outcome?.code).toBe(expected);
    }
  });

  it('reads the answers of a batch one by one', () => {
    const of = request([CALL, { ...CALL, id: '"é' }, { ...CALL, id: 3 }]);
    const answers = [FINE, { ...TOOL_ERROR, id: '"é' }, { ...RPC_ERROR, id: 3 }];
    const outcome = read({ text: JSON.stringify(answers), of, pieces: 5 });
    expect([1, '"é', 3].map((id) => outcome?.failureOf(id))).toEqual([undefined, TOOL, RPC]);
    expect(outcome?.failure).toEqual(RPC);
  });

  it('reads the answer behind other messages of a stream', () => {
    const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } };
    const question = { jsonrpc: '2.0', id: 1, method: 'sampling/createMessage', params: { isError: true } };
    const text = [progress, question, TOOL_ERROR].map((message) => eventOf(message)).join('');
    expect(read({ text, type: STREAM })?.failure).toEqual(TOOL);
  });

  it('ignores events of other types, and an event that does not end', () => {
    const other = eventOf(TOOL_ERROR).replace('event: message', 'event: endpoint');
    expect(read({ text: other, type: STREAM })?.failure).toBeUndefined();
    expect(read({ text: eventOf(TOOL_ERROR).slice(0, -1), type: STREAM })?.failure).toBeUndefined();
  });

  it('takes a message that is too long or cut off for one without a failure, and reads the next event', () => {
    const long = { ...TOOL_ERROR, padding: 'x'.repeat(1024 * 1024) };
    expect(read({ text: JSON.stringify(long) })?.failure).toBeUndefined();
    expect(read({ text: JSON.stringify(TOOL_ERROR).slice(0, -1) })?.failure).toBeUndefined();
    expect(read({ text: eventOf(long) + eventOf(RPC_ERROR), type: STREAM })?.failure).toEqual(RPC);
  });

  it('does not read answers of other types, compressed ones, and those without a request', () => {
    expect(read({ text: JSON.stringify(TOOL_ERROR), type: 'text/html' })).toBeUndefined();
    expect(read({ text: '{}', of: request({ jsonrpc: '2.0', method: 'notifications/initialized' }) })).toBeUndefined();
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const outcome = ReportedOutcome.of(request());
    expect(outcome && outcomeReader(outcome, { status: 200, headers })).toBeUndefined();
  });

  it.each([
    ['a string with many escapes', `{"id":1,"result":{"content":"${'\\n'.repeat(400_000)}"}}`, 'application/json'],
    [
      'many strings',
      `{"id":1,"result":{"content":[${'"0123456789012345678901234567890123456789",'.repeat(20_000)}1]}}`,
      'application/json',
    ],
    ['many empty lines', '\r'.repeat(1_000_000), STREAM],
    ['many lines of data', 'data:"0123456789012345678901234567890123456789\n'.repeat(20_000), STREAM],
  ])('takes a time that grows with the size for %s', async (_what, text, type) => {
    expect(await cpuTimeOf(() => read({ text, type, pieces: 65_536 }))).toBeLessThan(1_000);
  });
});
