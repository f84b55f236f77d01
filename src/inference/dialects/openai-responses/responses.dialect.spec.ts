import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GatewayError } from '../../../common/errors/gateway.error.js';
import { readMembers } from '../../../common/json/members.js';
import type { InferenceCall } from '../dialect.types.js';
import { openaiResponses, type ResponsesFacts } from './responses.dialect.js';
import { readResponsesUsage } from './responses-usage.js';

function callOf(text: string, hidesReasoning = false): InferenceCall<ResponsesFacts> {
  const bytes = Buffer.from(text);
  const facts = openaiResponses.readFacts(readMembers(bytes, openaiResponses.members), bytes);
  return { facts, bytes, knownModel: undefined, hidesReasoning };
}

const CALL = '{"model":"m","input":"Hi","stream":true,"max_output_tokens":20}';
const USAGE = { input_tokens: 9, input_tokens_details: { cached_tokens: 4 }, output_tokens: 5 };

function event(data: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

const CREATED = event({ type: 'response.created', response: { id: 'resp_1', usage: null } });
const DELTA = event({ type: 'response.output_text.delta', delta: 'w\\"ö' });
const DONE = event({ type: 'response.output_text.done', text: 'not counted again' });

describe('the meter of a response', () => {
  it.each(['response.completed', 'response.incomplete', 'response.failed'])(
    'reads the usage of %s, and passes every byte, however the stream is cut',
    (type) => {
      const bytes = Buffer.from(CREATED + DELTA + DONE + event({ type, response: { id: 'resp_1', usage: USAGE } }));
      fc.assert(
        fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 }), (cuts) => {
          const meter = openaiResponses.newMeter(callOf(CALL));
          const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
          const passed = places.slice(1).map((end, index) => meter.push(bytes.subarray(places[index], end)));
          expect(Buffer.concat([...passed, meter.end()])).toEqual(bytes);
          expect(meter.usage).toEqual({ counts: expect.objectContaining({ input: 5, cache_read: 4, output: 5 }) });
        }),
        { numRuns: 30 },
      );
    },
  );

  it('has what came of a stream that broke off, unless the model may think in secret', () => {
    for (const [hides, output] of [
      [false, 7],
      [true, undefined],
    ] as const) {
      const meter = openaiResponses.newMeter(callOf(CALL, hides));
      meter.push(Buffer.from(CREATED + DELTA + DONE));
      expect(meter.hasOutput).toBe(true);
      expect(meter.usage).toEqual({ counts: { output }, isComputed: true });
    }
  });

  it('reads the usage of a whole answer', () => {
    const meter = openaiResponses.newMeter(callOf(CALL));
    meter.push(Buffer.from(JSON.stringify({ object: 'response', usage: USAGE })));
    expect(meter.usage.counts).toMatchObject({ input: 5, cache_read: 4, output: 5 });
  });
});

describe('readResponsesUsage', () => {
  it('counts each token in one unit', () => {
    const details = {
      cached_tokens: 60,
      cache_write_tokens: 20,
      cache_write_tokens_details: { ttl_30m_tokens: 15, ttl_12h_tokens: 5 },
    };
    const usage = { input_tokens: 100, input_tokens_details: details, output_tokens: 0 };
    expect(readResponsesUsage({ usage, tool_usage: { web_search: { num_requests: 2 } } })).toEqual({
      input: 20,
      cache_read: 60,
      cache_write_5m: 15,
      cache_write_1h: 5,
      output: 0,
      web_search: 2,
    });
  });

  it.each([[undefined], [null], [{}], [{ input_tokens: '3' }]])('finds none in %j', (usage) => {
    expect(readResponsesUsage({ usage, tool_usage: { web_search: { num_requests: 2 } } })).toBeUndefined();
  });
});

describe('the bound of a response', () => {
  it('is its cap', () => {
    expect(openaiResponses.estimate(callOf(CALL))).toMatchObject({ counts: { output: 20 }, unbounded: undefined });
  });

  it.each([
    ['"x":1', 'max_output_tokens'],
    ['"max_output_tokens":0', 'max_output_tokens'],
    ['"max_output_tokens":9,"background":true', 'background'],
    ['"max_output_tokens":9,"previous_response_id":"resp_1"', 'previous_response_id'],
    ['"max_output_tokens":9,"conversation":{"id":"conv_1"}', 'conversation'],
    ['"max_output_tokens":9,"prompt":{"id":"pmpt_1"}', 'prompt'],
    ['"max_output_tokens":9,"input":[{"type":"item_reference","id":"msg_1"}]', 'input'],
    ['"max_output_tokens":9,"tools":[{"type":"web_search"}]', 'tools'],
    ['"max_output_tokens":9,"tools":[{"type":"function"},{"type":"mcp"}]', 'tools'],
    ['"max_output_tokens":9,"context_management":[{"type":"compaction"}]', 'context_management'],
  ])('is not there with %s: %s', (more, field) => {
    expect(openaiResponses.estimate(callOf(`{"model":"m",${more}}`)).unbounded).toBe(field);
  });

  it.each([
    '"background":false,"previous_response_id":null,"conversation":null,"prompt":null,"context_management":null',
    '"tools":[{"type":"function","name":"f","parameters":{"type":"object"}},{"type":"custom"},{"type":"local_shell"}]',
  ])('is there with %s', (more) => {
    expect(openaiResponses.estimate(callOf(`{"model":"m","max_output_tokens":9,${more}}`)).unbounded).toBeUndefined();
  });
});

it.each([
  ['{"input":"Hi"}', 'model'],
  ['{"model":"m","background":1}', 'background'],
  ['{"model":"m","max_output_tokens":0.5}', 'max_output_tokens'],
  ['{"model":"m","Background":true}', 'Background'],
])('refuses %s, and names %s', (text, param) => {
  expect(() => callOf(text)).toThrow(expect.objectContaining({ code: 'validation_failed', param }));
});

it.each([
  ['with a failed response', 'resp_1', [['response.failed', 'resp_1', 'failed']]],
  [
    'with a response that begins and fails',
    undefined,
    [
      ['response.created', 'resp_r1', 'in_progress'],
      ['response.failed', 'resp_r1', 'failed'],
    ],
  ],
])('ends a stream %s', (_what, id, expected) => {
  const text = String(openaiResponses.toErrorEvent(new GatewayError('provider_timeout'), 'r1', id));
  const events = [...text.matchAll(/^event: (.*)\ndata: (.*)\n\n/gm)].map(([, name, data = '']) => {
    const { type, response } = JSON.parse(data);
    expect(type).toBe(name);
    return [type, response.id, response.status];
  });
  expect(events).toEqual(expected);
  expect(text).toMatch(/"error":\{"code":"provider_timeout","message":"[^"]+"\}/);
});
