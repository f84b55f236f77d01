import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json } from './support/fake-provider.js';
import { type ExportedSpan, type OtlpCollector, startOtlpCollector } from './support/otlp-collector.js';
import { PROVIDER_KEY, type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import type { Answer } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;

const BODY = { model: 'rerank-v3.5', query: 'query in no trace', documents: ['document in no trace'] };
const SCORES = json({ results: [{ index: 0, relevance_score: 0.9 }], meta: { billed_units: { search_units: 3 } } });

let collector: OtlpCollector;
let gateway: RerankGateway;
let virtualKey: string;

async function startGateway(settings: Readonly<Record<string, string>>): Promise<void> {
  gateway = await startRerankGateway(settings);
  virtualKey = await gateway.virtualKey('cohere');
  gateway.provider.replyWith(SCORES);
}

function rerank(headers: Readonly<Record<string, string>> = {}, body: unknown = BODY): Promise<Answer> {
  return gateway.rerank(virtualKey, body, { headers });
}

/** Stops the gateway, which flushes its spans, and returns the spans of the rerank requests. */
async function exported(): Promise<readonly ExportedSpan[]> {
  await gateway.close();
  return collector.spans.filter(({ name }) => name !== 'POST /v1/virtual-keys');
}

const sentOn = (): readonly unknown[] => gateway.provider.calls.map(({ headers }) => headers['traceparent']);

const requestLines = (): readonly Record<string, unknown>[] =>
  gateway.app
    .log()
    .trim()
    .split('\n')
    .map((line): Record<string, unknown> => JSON.parse(line))
    .filter((line) => line['event'] === 'request' && line['route'] === '/v1/rerank');

beforeAll(async () => {
  // One attempt per batch: the exporter's retries are not tested here.
  process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '500';
  collector = await startOtlpCollector();
});

afterAll(async () => {
  delete process.env['OTEL_EXPORTER_OTLP_TIMEOUT'];
  await collector.close();
});

beforeEach(() => {
  collector.spans.length = 0;
  collector.exports.length = 0;
});

describe('tracing with a collector', () => {
  beforeEach(() => startGateway({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: 'edge' }));

  it("exports two spans per rerank below the caller's span, with the logged ids", async () => {
    const answer = await rerank({ traceparent: `00-${TRACE}-${SPAN}-01`, 'x-gateway-trace-id': 'order-17' });
    expect([answer.status, answer.headers['x-gateway-trace-id']]).toEqual([200, 'order-17']);
    const [call, request, ...others] = await exported();
    expect(others).toEqual([]);
    expect(request).toMatchObject({ name: 'POST /v1/rerank', kind: SERVER, traceId: TRACE, parentSpanId: SPAN });
    expect(call).toMatchObject({ name: 'rerank rerank-v3.5', kind: CLIENT, parentSpanId: request?.spanId });
    expect(sentOn()).toEqual([`00-${TRACE}-${call?.spanId}-01`]);
    expect(requestLines()).toMatchObject([
      { trace_id: 'order-17', w3c_trace_id: TRACE, w3c_span_id: request?.spanId, parent_span_id: SPAN },
    ]);
  });

  it('exports caller, provider and outcome in the spans', async () => {
    await rerank({ 'x-gateway-metadata': '{"team":"search"}', 'x-gateway-span-name': 'rerank orders' });
    const [call, request] = await exported();
    expect(request?.name).toBe('rerank orders');
    expect(request?.resource).toMatchObject({ 'service.name': 'edge' });
    expect(request?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/v1/rerank',
      'http.response.status_code': 200,
      'gateway.provider': 'cohere',
      'gateway.virtual_key': virtualKey,
      'gateway.usage.search_units': 3,
      'gateway.quantity.search_unit': 3,
      'gateway.metadata.team': 'search',
    });
    expect(call?.attributes).toMatchObject({
      'gen_ai.operation.name': 'rerank',
      'gen_ai.provider.name': 'cohere',
      'gen_ai.request.model': 'rerank-v3.5',
    });
  });

  it('starts a trace for a request without one, and logs its id', async () => {
    await rerank();
    const [, request] = await exported();
    expect(request?.parentSpanId).toBeUndefined();
    expect(requestLines()).toMatchObject([{ w3c_trace_id: request?.traceId, w3c_span_id: request?.spanId }]);
  });

  it("marks both spans with the provider's error", async () => {
    gateway.provider.replyWith(json({ message: 'no' }, 422));
    expect((await rerank()).status).toBe(422);
    gateway.provider.replyWith(json({ message: 'no' }, 401));
    expect((await rerank()).status).toBe(502);
    const [firstCall, first, secondCall, second] = await exported();
    expect(firstCall).toMatchObject({ status: ERROR, attributes: { 'error.type': '422' } });
    expect(first?.attributes).toMatchObject({ 'error.type': 'provider_rejected', 'http.response.status_code': 422 });
    expect(secondCall).toMatchObject({ status: ERROR, attributes: { 'error.type': '401' } });
    expect(second).toMatchObject({ status: ERROR, attributes: { 'error.type': 'provider_credential_rejected' } });
  });

  it('forwards but does not export a request that its caller does not sample', async () => {
    await rerank({ traceparent: `00-${TRACE}-${SPAN}-00` });
    expect(await exported()).toEqual([]);
    expect(sentOn()).toEqual([expect.stringMatching(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`))]);
  });

  it('exports no text and no key', async () => {
    await rerank({ authorization: 'Bearer token in no trace', 'x-user-jwt': 'identity in no trace' });
    gateway.provider.replyWith(json({ message: 'answer in no trace' }, 400));
    await rerank();
    await rerank({}, { ...BODY, documents: 'document in no trace' });
    expect(await exported()).toHaveLength(5);
    const everything = collector.exports.map(({ body }) => body).join('\n');
    for (const text of [ADMIN_KEY, PROVIDER_KEY, 'in no trace']) expect(everything).not.toContain(text);
  });
});

describe('tracing without a collector', () => {
  it('serves requests when the collector is down, and logs the problem', async () => {
    const away = await startOtlpCollector();
    await startGateway({ OTEL_EXPORTER_OTLP_ENDPOINT: away.url });
    await away.close();
    expect((await rerank()).status).toBe(200);
    await gateway.close();
    expect(gateway.app.log()).toContain('"event":"tracing_problem","reason":"export failed: ECONNREFUSED"');
  });

  it("sends the gateway's own span to the provider without a collector", async () => {
    await startGateway({});
    await rerank({ traceparent: `00-${TRACE}-${SPAN}-01` });
    await gateway.close();
    const [line] = requestLines();
    expect(sentOn()).toEqual([`00-${TRACE}-${String(line?.['w3c_span_id'])}-01`]);
    expect(collector.exports).toEqual([]);
  });
});
