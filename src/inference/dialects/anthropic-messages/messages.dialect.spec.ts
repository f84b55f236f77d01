import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GatewayError } from '../../../common/errors/gateway.error.js';
import { readMembers } from '../../../common/json/members.js';
import type { InferenceCall } from '../dialect.types.js';
import { toMessagesError } from './messages-refusal.js';
import { readMessagesUsage } from './messages-usage.js';
import { anthropicMessages, type MessagesFacts } from './messages.dialect.js';

function callOf(text: string): InferenceCall<MessagesFacts> {
  const bytes = Buffer.from(text);
  const facts = anthropicMessages.readFacts(readMembers(bytes, anthropicMessages.members), bytes);
  return { facts, bytes, knownModel: undefined, hidesReasoning: false };
}

const BODY = '{"model":"claude","max_tokens":100,"messages":[]';

function event(data: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

const START = event({
  type: 'message_start',
  message: {
    id: 'msg_1',
    usage: { input_tokens: 20, cache_read_input_tokens: 5, cache_creation_input_tokens: 3, output_tokens: 1 },
  },
});
const TEXT = event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hey' } });
const DELTA = event({
  type: 'message_delta',
  delta: { stop_reason: 'end_turn' },
  usage: { input_tokens: null, output_tokens: 7 },
});
const STOP = event({ type: 'message_stop' });

describe('the meter of messages', () => {
  it('passes a stream unchanged, and counts what it reports, however it is cut', () => {
    const bytes = Buffer.from(START + TEXT + DELTA + STOP);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 }), (cuts) => {
        const meter = anthropicMessages.newMeter(callOf(`${BODY}}`));
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const passed = places.slice(1).map((end, index) => meter.push(bytes.subarray(places[index], end)));
        expect(Buffer.concat([...passed, meter.end()])).toEqual(bytes);
        expect(meter.usage).toEqual({ counts: { input: 20, cache_read: 5, cache_write_5m: 3, output: 7 } });
      }),
    );
  });

  it.each([
    ['', 3],
    [',"thinking":{"type":"enabled","budget_tokens":50}', undefined],
    [',"think\\u0069ng":{"type":"adaptive"}', undefined],
    [',"thinking":{"type":"disabled"}', 3],
  ])('has the input of a cut stream, and what came of its output: %s', (more, output) => {
    const meter = anthropicMessages.newMeter(callOf(`${BODY},"stream":true${more}}`));
    meter.push(Buffer.from(START + TEXT));
    expect(meter.usage).toEqual({ counts: expect.objectContaining({ input: 20, output }), isComputed: true });
  });

  it('counts each kind of cache write, and searches', () => {
    const usage = {
      input_tokens: 1,
      output_tokens: 2,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
      server_tool_use: { web_search_requests: 4 },
    };
    const meter = anthropicMessages.newMeter(callOf(`${BODY}}`));
    meter.push(Buffer.from(JSON.stringify({ type: 'message', usage })));
    expect(meter.usage.counts).toEqual({
      input: 1,
      output: 2,
      cache_write_5m: 10,
      cache_write_1h: 20,
      web_search: 4,
    });
  });
});

describe('the usage of messages', () => {
  const read = (usage: object, before = {}): unknown => JSON.parse(JSON.stringify(readMessagesUsage(usage, before)));
  const written = (total: number, more: object = {}): object => ({ cache_creation_input_tokens: total, ...more });

  it.each([
    ['the start and the end of a stream', written(90), { cache_write_5m: 20, cache_write_1h: 70 }, 20, 70],
    ['an end whose total is larger', written(100), { cache_write_5m: 20, cache_write_1h: 70 }, 30, 70],
    ['the longer part alone', written(90, { cache_creation: { ephemeral_1h_input_tokens: 70 } }), {}, 20, 70],
  ])('has each write to the cache once: %s', (_what, usage, before, short, long) => {
    expect(read(usage, before)).toEqual({ cache_write_5m: short, cache_write_1h: long });
  });

  it('has what the iterations have beyond the totals', () => {
    const compaction = { type: 'compaction', input_tokens: 144, output_tokens: 76, ...written(9) };
    const message = { type: 'message', input_tokens: 10, output_tokens: 5 };
    const totals = { input_tokens: 10, output_tokens: 5 };
    const all = { input: 154, output: 81, cache_write_5m: 9 };
    expect(read({ ...totals, iterations: [compaction, message] })).toEqual(all);
    expect(read({ input_tokens: 0, output_tokens: 0, iterations: [compaction] })).toMatchObject({ input: 144 });
    expect(read({ ...totals, iterations: [] })).toEqual({ input: 10, output: 5 });
    expect(read({ ...totals, ...written(0), iterations: [message] })).toMatchObject({ cache_write_5m: 0 });
    expect(read({ input_tokens: 500, output_tokens: 5, iterations: [message] })).toEqual({ input: 500, output: 5 });
  });

  it('is not there without figures', () => {
    expect(readMessagesUsage({ iterations: null, cache_creation: {} })).toBeUndefined();
  });
});

describe('the bound of messages', () => {
  it('is the cap of the request', () => {
    expect(anthropicMessages.estimate(callOf(`${BODY}}`))).toMatchObject({
      counts: { output: 100 },
      unbounded: undefined,
    });
  });

  it('has the prices of the cache where the request writes to it', () => {
    const { counts } = anthropicMessages.estimate(callOf(`${BODY},"system":[{"cache_control":{"type":"ephemeral"}}]}`));
    expect(counts).toMatchObject({ cache_write_5m: 0, cache_write_1h: 0 });
    expect(anthropicMessages.estimate(callOf(`${BODY}}`)).counts).not.toHaveProperty('cache_write_1h');
  });

  it.each([
    ['"tools":[{"type":"web_search_20260209","name":"web_search"}]', 'tools'],
    ['"tools":[{"type": "code_execution_20250825"}]', 'tools'],
    ['"tools":[{"ty\\u0070e":"web\\u005fsearch_20260209"}]', 'tools'],
    ['"tools":[{"Type":"web_search_20260209"}]', 'tools'],
    ['"tools":[{"type":"custom"},{"type":"mcp_toolset"}]', 'tools'],
    ['"mcp_servers":[]', 'mcp_servers'],
    ['"context_management":{"edits":[{"type":"compact_20260112"}]}', 'context_management'],
    ['"container":"container_1"', 'container'],
    ['"system":[{"source":{"type":"url","url":"https://a.example/1.pdf"}}]', 'messages'],
    ['"system":[{"source":{"media_type":"application\\/pdf"}}]', 'messages'],
    ['"system":[{"source":{"type":"file","file\\u005fid":"f"}}]', 'messages'],
    [`"system":[{${'"a":1,'.repeat(260_000)}"b":1}]`, 'messages'],
  ])('is not there with %s', (more, field) => {
    expect(anthropicMessages.estimate(callOf(`${BODY},${more}}`)).unbounded).toBe(field);
  });

  it.each([
    ['a text', { role: 'user', content: '"type":"web_search_x", "mcp_servers": 1' }],
    [
      'a tool of the caller',
      { mcp_servers: null, container: null, tools: [{ type: 'bash_20250124' }, { type: 'custom' }, { name: 'x' }] },
    ],
    ['an argument of a tool', { tools: [{ input_schema: { properties: { container: {}, file_id: {} } } }] }],
  ])('does not take %s for a tool of the provider or a file', (_what, more) => {
    const text = `${BODY},${JSON.stringify(more).slice(1)}`;
    expect(anthropicMessages.estimate(callOf(text)).unbounded).toBeUndefined();
  });
});

describe('an image in messages', () => {
  const DATA = 'A'.repeat(1_000_000);

  function boundOf(source: string): number {
    const text = `{"model":"claude","max_tokens":1,"messages":[{"content":[{"type":"image","source":${source}}]}]}`;
    return anthropicMessages.estimate(callOf(text)).counts.input ?? 0;
  }

  it.each([
    `{"type":"base64","media_type":"image/png","data":"${DATA}"}`,
    `{"data":"${DATA}","media_type":"image\\/webp","type":"base64"}`,
  ])('is bounded by itself, and not by its bytes', (source) => {
    expect(boundOf(source)).toBeGreaterThanOrEqual(5_000);
    expect(boundOf(source)).toBeLessThan(6_000);
  });

  it.each([
    ['a text', `{"type":"text","media_type":"text/plain","data":"${DATA}"}`],
    ['another type', `{"type":"text","media_type":"image/png","data":"${DATA}"}`],
    ['a type that comes twice', `{"type":"base64","media_type":"image/png","type":"text","data":"${DATA}"}`],
    ['data that come twice', `{"type":"base64","media_type":"image/png","data":"","data":"${DATA}"}`],
  ])('is bounded by its bytes where it may be %s', (_what, source) => {
    expect(boundOf(source)).toBeGreaterThan(1_000_000);
  });

  it.each([
    ['its type is written otherwise', '"ty\\u0070e":"\\u0069mage"', '"type":"base64","media_type":"image/png"'],
    ['a field of its source comes twice', '"type":"image"', '"type":"base64","type":"base64","media_type":"image/png"'],
  ])('is one also where %s', (_what, type, source) => {
    const image = `{${type},"source":{${source},"data":"iVBORw0KGgo"}}`;
    const text = `{"model":"claude","max_tokens":1,"messages":[{"content":[${image}]}]}`;
    expect(anthropicMessages.estimate(callOf(text)).counts.input).toBeGreaterThanOrEqual(5_000);
  });
});

it.each([
  ['{"model":"m"}', 'max_tokens'],
  ['{"model":"m","max_tokens":1.5}', 'max_tokens'],
  ['{"model":"m","max_tokens":1,"stream":1}', 'stream'],
  ['{"max_tokens":1}', 'model'],
  ['{"model":"m","max_tokens":1,"max_tokens":9}', 'max_tokens'],
])('refuses %s, and names %s', (text, param) => {
  expect(() => callOf(text)).toThrow(expect.objectContaining({ code: 'validation_failed', param }));
});

it('passes the headers of the API, and no others', () => {
  const headers = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a,b' };
  expect(anthropicMessages.headersOf?.({ ...headers, 'x-api-key': 'tg_', cookie: 'a=b' })).toEqual(headers);
  expect(anthropicMessages.headersOf?.({})).toEqual({ 'anthropic-version': '2023-06-01' });
});

describe('toMessagesError', () => {
  it.each([
    ['validation_failed', 'invalid_request_error'],
    ['api_key_invalid', 'authentication_error'],
    ['model_not_allowed', 'permission_error'],
    ['model_not_found', 'not_found_error'],
    ['usage_limit_exceeded', 'billing_error'],
    ['rate_limited', 'rate_limit_error'],
    ['provider_failed', 'api_error'],
  ] as const)('has for %s the type %s', (code, type) => {
    expect(toMessagesError(new GatewayError(code, { param: 'model' }))).toMatchObject({
      type: 'error',
      error: { type, details: { error_code: code, param: 'model' } },
    });
  });
});
