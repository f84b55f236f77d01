import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway.error.js';
import { readTraceHeaders, salvageTraceHeaders, toTraceparent, traceContext } from './trace-headers.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const TRACEPARENT = `00-${TRACE}-${SPAN}-01`;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function problemOf(headers: Record<string, string>): string | null {
  try {
    readTraceHeaders(headers);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'validation_failed') return error.param;
  }
  return 'no problem';
}

describe('the trace id', () => {
  it('creates a UUID as trace id when the caller sends none', () => {
    const [first, second] = [readTraceHeaders({}), readTraceHeaders({})];
    expect(first.traceId).toMatch(UUID);
    expect(first.traceId).not.toBe(second.traceId);
  });

  it('uses the digits of a new trace id as W3C trace id, with a span id of 16 digits', () => {
    const trace = readTraceHeaders({});
    expect(trace.w3cTraceId).toBe(trace.traceId.replaceAll('-', ''));
    expect(trace.w3cSpanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
  });

  it("keeps the caller's trace id as sent", () => {
    expect(readTraceHeaders({ 'x-gateway-trace-id': 'Order/17' }).traceId).toBe('Order/17');
  });

  it('reads the trace id from the x-portkey header, after the x-gateway header', () => {
    const headers = { 'x-portkey-trace-id': 'theirs' };
    expect(readTraceHeaders(headers).traceId).toBe('theirs');
    expect(readTraceHeaders({ ...headers, 'x-gateway-trace-id': 'ours' }).traceId).toBe('ours');
  });

  it('takes the trace id from traceparent when there is no other', () => {
    expect(readTraceHeaders({ traceparent: TRACEPARENT })).toMatchObject({ traceId: TRACE, parentSpanId: SPAN });
  });
});

describe('the W3C trace id', () => {
  it('takes the W3C trace id from traceparent, whatever the x-gateway header says', () => {
    const trace = readTraceHeaders({ traceparent: TRACEPARENT, 'x-gateway-trace-id': 'order-17' });
    expect(trace).toMatchObject({ traceId: 'order-17', w3cTraceId: TRACE, w3cParentId: SPAN });
  });

  it.each([
    ['a UUID', '0AF76519-16cd-43dd-8448-eb211c80319c'],
    ['32 hexadecimal digits', TRACE],
  ])('uses the trace id of the gateway header when it is %s', (_what, id) => {
    expect(readTraceHeaders({ 'x-gateway-trace-id': id }).w3cTraceId).toBe(TRACE);
  });

  it.each(['order-17', '00000000-0000-0000-0000-000000000000'])(
    'derives the same W3C trace id for %s each time',
    (id) => {
      const headers = { 'x-gateway-trace-id': id };
      const { w3cTraceId } = readTraceHeaders(headers);
      expect(w3cTraceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
      expect(readTraceHeaders(headers).w3cTraceId).toBe(w3cTraceId);
    },
  );
});

describe('traceparent', () => {
  it.each([
    ['sampled', `00-${TRACE}-${SPAN}-01`, true],
    ['not sampled', `00-${TRACE}-${SPAN}-00`, false],
    ['sampled, with flags of the future', `00-${TRACE}-${SPAN}-03`, true],
    ['of a later version with more fields', `01-${TRACE}-${SPAN}-01-more`, true],
  ])('accepts a traceparent that is %s', (_what, traceparent, sampled) => {
    expect(readTraceHeaders({ traceparent })).toMatchObject({ w3cTraceId: TRACE, sampled });
  });

  it.each([
    ['of the forbidden version', `ff-${TRACE}-${SPAN}-01`],
    ['of version 00 with more fields', `00-${TRACE}-${SPAN}-01-more`],
    ['in capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['without a trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['without a span', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['sent twice', `${TRACEPARENT}, ${TRACEPARENT}`],
    ['junk', 'abc'],
  ])('starts a new trace when traceparent is %s', (_what, traceparent) => {
    const trace = readTraceHeaders({ traceparent });
    expect(trace).toMatchObject({ w3cParentId: undefined, parentSpanId: undefined, sampled: true });
    expect(trace.w3cTraceId).not.toBe(TRACE);
  });

  it("sends the gateway's own span to the next hop, and keeps the caller's sampling decision", () => {
    const trace = readTraceHeaders({ traceparent: `00-${TRACE}-${SPAN}-00` });
    expect(toTraceparent(trace)).toBe(`00-${TRACE}-${trace.w3cSpanId}-00`);
    expect(trace.w3cSpanId).not.toBe(SPAN);
  });
});

describe('tracestate', () => {
  const stateOf = (tracestate: string, traceparent = TRACEPARENT): string | undefined =>
    readTraceHeaders({ traceparent, tracestate }).traceState;

  it.each(['rojo=00f067aa0ba902b7,congo=t61rcWkgMzE', 'x'.repeat(512)])(
    'forwards tracestate unchanged: %s',
    (state) => {
      expect(stateOf(state)).toBe(state);
      const child = traceContext('of the child', readTraceHeaders({ traceparent: TRACEPARENT, tracestate: state }));
      expect(child).toEqual({ traceparent: 'of the child', tracestate: state });
    },
  );

  it.each([
    ['empty', ''],
    ['too long', 'x'.repeat(513)],
    ['no printable ASCII', 'a=caf\u00e9'],
  ])('drops a tracestate that is %s', (_what, state) => expect(stateOf(state)).toBeUndefined());

  it('drops tracestate without a valid traceparent', () => {
    expect(readTraceHeaders({ tracestate: 'a=b' }).traceState).toBeUndefined();
    expect(stateOf('a=b', 'junk')).toBeUndefined();
    expect(traceContext('of the child', readTraceHeaders({}))).toEqual({ traceparent: 'of the child' });
  });
});

describe('ids and names', () => {
  it.each(['trace-id', 'span-id', 'parent-span-id'])(
    'accepts at most 128 printable characters in x-gateway-%s',
    (name) => {
      const header = `x-gateway-${name}`;
      for (const value of ['a'.repeat(128), 'order 7']) expect(problemOf({ [header]: value })).toBe('no problem');
      for (const value of ['a'.repeat(129), 'a\tb', 'é']) expect(problemOf({ [header]: value })).toBe(header);
    },
  );

  it('accepts spaces in x-gateway-span-name', () => {
    expect(readTraceHeaders({ 'x-gateway-span-name': 'rerank orders' }).spanName).toBe('rerank orders');
    for (const value of ['a'.repeat(129), 'a\tb'])
      expect(problemOf({ 'x-gateway-span-name': value })).toBe('x-gateway-span-name');
  });

  it('treats an empty header as absent', () => {
    expect(readTraceHeaders({ 'x-gateway-trace-id': '' }).traceId).toMatch(UUID);
  });
});

describe('x-gateway-metadata', () => {
  const metadataOf = (value: unknown): unknown =>
    readTraceHeaders({ 'x-gateway-metadata': Buffer.from(JSON.stringify(value)).toString('latin1') }).metadata;

  it('keeps the digits of numbers, also inside of other values', () => {
    const header = '{"user":1234567890123456789,"cart":{"id":1234567890123456790},"share":0.1,"huge":1e400}';
    const { metadata } = readTraceHeaders({ 'x-gateway-metadata': header });
    expect(metadata).toEqual({
      user: '1234567890123456789',
      cart: '{"id":1234567890123456790}',
      share: '0.1',
      huge: '1e400',
    });
    expect(problemOf({ 'x-gateway-metadata': `{"a":${'9'.repeat(129)}}` })).toBe('x-gateway-metadata');
  });

  it('reads metadata as an object of strings, in UTF-8', () => {
    expect(metadataOf({ _user: 'zoë', team: '検索' })).toEqual({ _user: 'zoë', team: '検索' });
  });

  it('turns values other than strings into JSON, and drops null', () => {
    const said = { order: 17, paid: true, tags: ['a', 1], cart: { items: { n: 2 } }, coupon: null };
    expect(metadataOf(said)).toEqual({ order: '17', paid: 'true', tags: '["a",1]', cart: '{"items":{"n":2}}' });
    // One is too long, and one too deep to be written as JSON.
    for (const value of [`["${'v'.repeat(125)}"]`, '['.repeat(7_000) + ']'.repeat(7_000)]) {
      expect(problemOf({ 'x-gateway-metadata': `{"a":${value}}` })).toBe('x-gateway-metadata');
    }
  });

  it('accepts 32 keys and values of 128 characters', () => {
    const full = Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`k${index}`, 'v'.repeat(128)]));
    expect(metadataOf(full)).toEqual(full);
    expect(problemOf({ 'x-gateway-metadata': JSON.stringify({ ...full, more: '' }) })).toBe('x-gateway-metadata');
  });

  it('keeps __proto__ as an ordinary key', () => {
    const { metadata } = readTraceHeaders({ 'x-gateway-metadata': '{"__proto__":"a"}' });
    expect(Object.entries(metadata)).toEqual([['__proto__', 'a']]);
  });

  it.each(['{', '[]', 'null', '"text"', `{"a":"${'v'.repeat(129)}"}`, '{"a":"b"}, {"c":"d"}'])(
    'refuses the metadata %s',
    (value) => expect(problemOf({ 'x-gateway-metadata': value })).toBe('x-gateway-metadata'),
  );
});

describe('salvageTraceHeaders', () => {
  it("keeps the caller's ids when another header is broken", () => {
    const headers = { traceparent: TRACEPARENT, 'x-portkey-trace-id': 'order-17', 'x-gateway-metadata': '{' };
    expect(salvageTraceHeaders(headers)).toMatchObject({ traceId: 'order-17', w3cTraceId: TRACE, metadata: {} });
  });

  it('creates a trace id when the given one is broken', () => {
    expect(salvageTraceHeaders({ 'x-gateway-trace-id': 'a\tb' }).traceId).toMatch(UUID);
    expect(salvageTraceHeaders({ traceparent: TRACEPARENT, 'x-gateway-trace-id': 'a\tb' }).traceId).toBe(TRACE);
  });
});
