// Spans, metrics and log lines of calls of models, by the conventions for generative AI.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json, type Reply } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { type ExportedSpan, type OtlpCollector, startOtlpCollector } from './support/otlp-collector.js';
import { requestLine } from './support/request-line.js';
import { type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { type Answer, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const events = (...messages: readonly object[]): string =>
  messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join('');

const CHUNK = { id: 'c-1', object: 'chat.completion.chunk', model: 'm-2026' };
const RESPONSE = { id: 'r-1', object: 'response', model: 'm-2026' };
const MESSAGE = { id: 'msg-1', type: 'message', model: 'm-2026', content: [] };

/** What the answers report: 3 of the input come from a cache. */
const CHAT_USAGE = { prompt_tokens: 9, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 3 } };
const RESPONSE_USAGE = { input_tokens: 9, output_tokens: 5, input_tokens_details: { cached_tokens: 3 } };
const MESSAGE_USAGE = { input_tokens: 6, cache_read_input_tokens: 3, cache_creation_input_tokens: 0, output_tokens: 5 };

const FORMS = [
  {
    path: '/v1/chat/completions',
    operation: 'chat',
    body: { messages: [{ role: 'user', content: 'in no span' }] },
    id: 'c-1',
    reason: 'stop',
    whole: {
      id: 'c-1',
      model: 'm-2026',
      choices: [{ index: 0, message: { content: 'in no span' }, finish_reason: 'stop' }],
      usage: CHAT_USAGE,
    },
    stream: events(
      { ...CHUNK, choices: [{ index: 0, delta: { content: 'in no span' }, finish_reason: null }] },
      { ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { ...CHUNK, choices: [], usage: CHAT_USAGE },
    ),
  },
  {
    path: '/v1/completions',
    operation: 'text_completion',
    body: { prompt: 'in no span' },
    id: 'c-1',
    reason: 'length',
    whole: {
      id: 'c-1',
      model: 'm-2026',
      choices: [{ index: 0, text: 'in no span', finish_reason: 'length' }],
      usage: CHAT_USAGE,
    },
    stream: events(
      { ...CHUNK, choices: [{ index: 0, text: 'in no span', finish_reason: null }] },
      { ...CHUNK, choices: [{ index: 0, text: '', finish_reason: 'length' }] },
      { ...CHUNK, choices: [], usage: CHAT_USAGE },
    ),
  },
  {
    path: '/v1/responses',
    operation: 'chat',
    body: { input: 'in no span' },
    id: 'r-1',
    reason: 'max_output_tokens',
    whole: {
      ...RESPONSE,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [],
      usage: RESPONSE_USAGE,
    },
    stream: events(
      { type: 'response.created', response: { ...RESPONSE, status: 'in_progress', usage: null } },
      { type: 'response.output_text.delta', delta: 'in no span' },
      {
        type: 'response.incomplete',
        response: {
          ...RESPONSE,
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
          usage: RESPONSE_USAGE,
        },
      },
    ),
  },
  {
    path: '/v1/messages',
    operation: 'chat',
    body: { messages: [{ role: 'user', content: 'in no span' }] },
    id: 'msg-1',
    reason: 'end_turn',
    whole: { ...MESSAGE, stop_reason: 'end_turn', usage: MESSAGE_USAGE },
    stream: events(
      {
        type: 'message_start',
        message: { ...MESSAGE, stop_reason: null, usage: { ...MESSAGE_USAGE, output_tokens: 1 } },
      },
      { type: 'content_block_delta', delta: { type: 'text_delta', text: 'in no span' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
    ),
  },
] as const;

let collector: OtlpCollector;
let gateway: RerankGateway;
let slug: string;
let calls = 0;

beforeAll(async () => {
  collector = await startOtlpCollector();
});
beforeEach(async () => {
  collector.spans.length = 0;
  gateway = await startRerankGateway({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  slug = await gateway.virtualKey('openai-compatible');
});
afterAll(() => collector.close());

/** Ends the gateway, which exports its spans. */
async function spanOfProvider(): Promise<ExportedSpan | undefined> {
  await gateway.close();
  return collector.spans.find(({ attributes }) => attributes['gen_ai.operation.name'] !== undefined);
}

async function ask(path: string, body: object): Promise<{ readonly answer: Answer; readonly line: object }> {
  calls += 1;
  const trace = `inference-telemetry-${calls}`;
  const headers = {
    'content-type': 'application/json',
    'x-gateway-api-key': ADMIN_KEY,
    'x-gateway-virtual-key': slug,
    'x-gateway-trace-id': trace,
  };
  const answer = await send(gateway.app.url + path, { headers, body: JSON.stringify({ model: 'm', ...body }) });
  return { answer, line: await requestLine(gateway.app, trace) };
}

const stream =
  (text: string): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
  };

describe.each(FORMS)('a call of $path', ({ path, operation, body, id, reason, whole, stream: text }) => {
  it.each([false, true])('has its figures in span, log line and metrics, with stream %j', async (isStream) => {
    gateway.provider.replyWith(isStream ? stream(text) : json(whole));
    const { answer, line } = await ask(path, { ...body, max_tokens: 5, ...(isStream ? { stream: true } : {}) });
    expect(answer.status).toBe(200);
    expect(line).toMatchObject({
      model: 'm',
      quantities: { input: 6, cache_read: 3, output: 5 },
      finish_reason: reason,
      tokens_per_second: expect.any(Number),
    });
    const hasFirst = Object.hasOwn(line, 'first_token_ms');
    expect(hasFirst).toBe(isStream);
    const { text: metrics } = await send(`${gateway.app.url}/metrics`, { method: 'GET' });
    const labels = `gen_ai_operation_name="${operation}",gen_ai_provider_name="openai-compatible"`;
    expect(metrics).toContain(`gen_ai_client_operation_duration_seconds_count{${labels}} 1`);
    expect(metrics).toContain(`gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="input"} 9`);
    expect(metrics).toContain(`gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="output"} 5`);
    expect(metrics.includes(`gen_ai_client_operation_time_to_first_chunk_seconds_count{${labels}} 1`)).toBe(isStream);
    const span = await spanOfProvider();
    expect(span?.name).toBe(`${operation} m`);
    expect(span?.attributes).toMatchObject({
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': 'openai-compatible',
      'gen_ai.request.model': 'm',
      'gen_ai.response.id': id,
      'gen_ai.response.model': 'm-2026',
      'gen_ai.response.finish_reasons': { values: [{ stringValue: reason }] },
      'gen_ai.usage.input_tokens': 9,
      'gen_ai.usage.cache_read.input_tokens': 3,
      'gen_ai.usage.output_tokens': 5,
      'http.response.status_code': 200,
    });
    expect(JSON.stringify([line, collector.spans])).not.toContain('in no span');
  });
});

it('names the model behind a private name in its span, and the name in the log line', async () => {
  const target = { virtual_key: slug, model: 'private', base_model: 'the-model' };
  await new GatewayClient(gateway.app.url).create('/v1/model-routes', { name: 'named', targets: [target] });
  gateway.provider.replyWith(json({ usage: CHAT_USAGE }));
  const headers = { 'content-type': 'application/json', 'x-gateway-api-key': ADMIN_KEY, 'x-gateway-trace-id': 'named' };
  const body = JSON.stringify({ model: 'named', messages: [], max_tokens: 5 });
  expect((await send(`${gateway.app.url}/v1/chat/completions`, { headers, body })).status).toBe(200);
  expect(await requestLine(gateway.app, 'named')).toMatchObject({ model: 'private' });
  expect((await spanOfProvider())?.attributes).toMatchObject({ 'gen_ai.request.model': 'the-model' });
});

it('leaves the figures out where the provider refuses the call', async () => {
  gateway.provider.replyWith(json({ error: { message: 'no' } }, 400));
  const { line } = await ask('/v1/chat/completions', { messages: [], max_tokens: 5 });
  expect(line).not.toHaveProperty('finish_reason');
  const { text: metrics } = await send(`${gateway.app.url}/metrics`, { method: 'GET' });
  expect(metrics).not.toContain('gen_ai_client_token_usage_sum{');
  const span = await spanOfProvider();
  expect(span?.attributes).toMatchObject({ 'error.type': '400' });
  expect(span?.attributes).not.toHaveProperty('gen_ai.usage.input_tokens');
});

it('takes no text of a provider for a reason or a model', async () => {
  const long = 'x'.repeat(200);
  const choices = [{ index: 0, message: { content: '' }, finish_reason: 'a sentence of the model' }];
  gateway.provider.replyWith(json({ id: 'two\nlines', model: long, choices, usage: CHAT_USAGE }));
  const { line } = await ask('/v1/chat/completions', { messages: [], max_tokens: 5 });
  expect(line).not.toHaveProperty('finish_reason');
  const span = await spanOfProvider();
  for (const name of ['id', 'model', 'finish_reasons']) {
    expect(span?.attributes).not.toHaveProperty(`gen_ai.response.${name}`);
  }
});
