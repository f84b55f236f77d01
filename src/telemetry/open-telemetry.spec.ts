import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type OtlpCollector, startOtlpCollector } from '../../test/support/otlp-collector.js';
import { startHttp } from '../upstream/__fixtures__/loopback.js';
import { createLogger } from './logger.js';
import { OpenTelemetryTracing } from './open-telemetry.js';
import { readTraceHeaders } from './trace-headers.js';
import type { ProviderCallInfo, ProviderSpan, RequestOutcome, RequestSpan } from './tracing.js';

const PARENT_TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT_SPAN = 'b7ad6b7169203331';
const SAMPLED = { traceparent: `00-${PARENT_TRACE}-${PARENT_SPAN}-01` };
const UNSAMPLED = { traceparent: `00-${PARENT_TRACE}-${PARENT_SPAN}-00` };
const OK: RequestOutcome = {
  method: 'POST',
  scheme: 'http',
  route: '/v1/rerank',
  status: 200,
  isBrokenOff: false,
  facts: { provider: 'cohere', virtual_key: 'search', search_units: 2 },
  metadata: {},
};
const CALL = { operation: 'rerank', provider: 'voyage', model: 'rerank-2.5' };
const HOUR_MS = 3_600_000;
const SERVER = 2;
const CLIENT = 3;
const UNSET = 0;
const ERROR = 2;

let collector: OtlpCollector;
let tracing: OpenTelemetryTracing;
let log: PassThrough;

function startTracing(endpoint: string): OpenTelemetryTracing {
  log = new PassThrough();
  return new OpenTelemetryTracing({ endpoint, serviceName: 'tollgate-test' }, createLogger('trace', log));
}

/** A provider call that was made, and ended like this. */
function callOf(request: RequestSpan, outcome: string, info: ProviderCallInfo = CALL): ProviderSpan {
  const call = request.prepareProviderCall(info);
  call.start();
  call.end(outcome);
  return call;
}

const logged = (): string => String(log.read() ?? '');

beforeEach(async () => {
  // One try: the exporter decides what it repeats, and for how long.
  process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '500';
  collector = await startOtlpCollector();
  tracing = startTracing(collector.url);
});

afterEach(async () => {
  delete process.env['OTEL_EXPORTER_OTLP_TIMEOUT'];
  await tracing.close();
  await collector.close();
});

describe('the span of a request', () => {
  it('uses the logged ids and has no parent without a traceparent', async () => {
    const trace = readTraceHeaders({ 'x-gateway-trace-id': 'order-17' });
    tracing.startRequest('POST', trace).end(OK);
    await tracing.close();
    expect(collector.spans).toMatchObject([{ kind: SERVER, traceId: trace.w3cTraceId, spanId: trace.w3cSpanId }]);
    expect(collector.spans[0]?.parentSpanId).toBeUndefined();
    expect(collector.spans[0]?.attributes['gateway.trace_id']).toBe('order-17');
  });

  it("makes the request span a child of the caller's span, with the logged id", async () => {
    const trace = readTraceHeaders(SAMPLED);
    tracing.startRequest('POST', trace).end(OK);
    await tracing.close();
    expect(collector.spans).toMatchObject([
      { traceId: PARENT_TRACE, spanId: trace.w3cSpanId, parentSpanId: PARENT_SPAN },
    ]);
  });

  it('gives two requests of one trace different span ids', async () => {
    const [first, second] = [readTraceHeaders(SAMPLED), readTraceHeaders(SAMPLED)];
    const spans = [tracing.startRequest('POST', first), tracing.startRequest('POST', second)];
    for (const span of spans) span.end(OK);
    await tracing.close();
    expect(collector.spans.map((span) => span.spanId)).toEqual([first.w3cSpanId, second.w3cSpanId]);
  });

  it.each([
    ['the method and the route', {}, OK, 'POST /v1/rerank'],
    ['the method alone where no route matched', {}, { ...OK, route: undefined, status: 404 }, 'POST'],
    ['what the caller calls it', { 'x-gateway-span-name': 'rerank orders' }, OK, 'rerank orders'],
  ])('names the request span by %s', async (_what, headers, outcome, name) => {
    tracing.startRequest('POST', readTraceHeaders(headers)).end(outcome);
    await tracing.close();
    expect(collector.spans.map((span) => span.name)).toEqual([name]);
  });

  it('sets the documented attributes of the request span', async () => {
    const trace = readTraceHeaders({
      'x-gateway-trace-id': 'order-17',
      'x-gateway-span-id': 'span-1',
      'x-gateway-parent-span-id': 'span-0',
    });
    tracing.startRequest('POST', trace).end({ ...OK, metadata: { team: 'search', _user: 'u-1' } });
    await tracing.close();
    expect(collector.spans[0]?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/rerank',
      'http.response.status_code': 200,
      'url.scheme': 'http',
      'gateway.trace_id': 'order-17',
      'gateway.span_id': 'span-1',
      'gateway.parent_span_id': 'span-0',
      'gateway.provider': 'cohere',
      'gateway.virtual_key': 'search',
      'gateway.usage.search_units': 2,
      'gateway.metadata.team': 'search',
      'gateway.metadata._user': 'u-1',
    });
    expect(collector.spans[0]?.resource).toMatchObject({ 'service.name': 'tollgate-test' });
  });

  it.each([
    [400, 'validation_failed', UNSET],
    [499, undefined, UNSET],
    [502, 'provider_failed', ERROR],
  ])('maps a request that ends with %i (%s) to the span status %i', async (status, code, expected) => {
    const outcome = { ...OK, status, facts: { error_code: code } };
    tracing.startRequest('POST', readTraceHeaders({})).end(outcome);
    await tracing.close();
    expect(collector.spans[0]?.status).toBe(expected);
    expect(collector.spans[0]?.attributes['error.type']).toBe(code ?? String(status));
  });

  it('sets the error status for an aborted response', async () => {
    const facts = { error_code: 'provider_invalid_response' };
    tracing.startRequest('POST', readTraceHeaders({})).end({ ...OK, isBrokenOff: true, facts });
    tracing.startRequest('POST', readTraceHeaders({})).end({ ...OK, facts });
    await tracing.close();
    expect(collector.spans.map(({ status }) => status)).toEqual([ERROR, UNSET]);
  });
});

describe('the span of a provider call', () => {
  it('cuts the name of the model to bound the memory of waiting spans', async () => {
    const request = tracing.startRequest('POST', readTraceHeaders({}));
    callOf(request, '400', { ...CALL, model: `rerank-2.5${'x'.repeat(100_000)}` });
    callOf(request, '200', { ...CALL, model: 'm'.repeat(512) });
    await tracing.close();
    const cut = `rerank-2.5${'x'.repeat(502)}`;
    expect(collector.spans.map(({ name }) => name)).toEqual([`rerank ${cut}`, `rerank ${'m'.repeat(512)}`]);
    expect(collector.spans[0]?.attributes['gen_ai.request.model']).toBe(cut);
  });

  it("makes the provider span a child of the request's span, and sends its id to the provider", async () => {
    const trace = readTraceHeaders(SAMPLED);
    const request = tracing.startRequest('POST', trace);
    const call = callOf(request, '200');
    request.end(OK);
    await tracing.close();
    const [child] = collector.spans;
    expect(child).toMatchObject({ kind: CLIENT, traceId: PARENT_TRACE, parentSpanId: trace.w3cSpanId, status: UNSET });
    expect(call.headers).toEqual({ traceparent: `00-${PARENT_TRACE}-${child?.spanId}-01` });
  });

  it('starts the provider span when the call is made, not while it waits', async () => {
    const call = tracing.startRequest('POST', readTraceHeaders({})).prepareProviderCall(CALL);
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + HOUR_MS);
    call.start();
    call.end('200');
    clock.mockRestore();
    await tracing.close();
    expect(collector.spans).toMatchObject([{ kind: CLIENT }]);
    expect(collector.spans[0]?.durationMs).toBeLessThan(HOUR_MS);
  });

  it('exports no provider span when the call was never made', async () => {
    const request = tracing.startRequest('POST', readTraceHeaders({}));
    request.prepareProviderCall(CALL).end('usage_limit_exceeded');
    request.end(OK);
    await tracing.close();
    expect(collector.spans.map(({ kind }) => kind)).toEqual([SERVER]);
  });

  it('sets the attributes of the conventions for generative AI', async () => {
    callOf(tracing.startRequest('POST', readTraceHeaders({})), '200');
    await tracing.close();
    expect(collector.spans[0]?.name).toBe('rerank rerank-2.5');
    expect(collector.spans[0]?.attributes).toEqual({
      'gen_ai.operation.name': 'rerank',
      'gen_ai.provider.name': 'voyageai',
      'gen_ai.request.model': 'rerank-2.5',
      'http.response.status_code': 200,
    });
  });

  it.each([
    ['429', 429],
    ['provider_timeout', undefined],
    ['caller_gone', undefined],
  ])('sets the error type %s on the provider span', async (outcome, status) => {
    callOf(tracing.startRequest('POST', readTraceHeaders({})), outcome);
    await tracing.close();
    expect(collector.spans[0]?.status).toBe(ERROR);
    expect(collector.spans[0]?.attributes['error.type']).toBe(outcome);
    expect(collector.spans[0]?.attributes['http.response.status_code']).toBe(status);
  });
});

describe('the span of a message to an MCP server', () => {
  const TOOL_CALL = { server: 'issues', label: 'tools/call', rpcMethod: 'tools/call', tool: 'search' };
  const PING = { ...TOOL_CALL, label: 'ping', rpcMethod: 'ping', tool: undefined };
  const DONE = { status: 200, error: undefined };

  it("makes the MCP span a child of the request's span, and sends its id to the server", async () => {
    const trace = readTraceHeaders({ ...SAMPLED, tracestate: 'rojo=1' });
    const request = tracing.startRequest('POST', trace);
    const call = request.startMcpCall(TOOL_CALL);
    call.end(DONE);
    request.end(OK);
    await tracing.close();
    const [child] = collector.spans;
    expect(child).toMatchObject({ kind: CLIENT, traceId: PARENT_TRACE, parentSpanId: trace.w3cSpanId, status: UNSET });
    expect(call.headers).toEqual({ traceparent: `00-${PARENT_TRACE}-${child?.spanId}-01`, tracestate: 'rojo=1' });
  });

  it('sets the attributes of the conventions for MCP on both spans', async () => {
    const request = tracing.startRequest('POST', readTraceHeaders({}));
    request.noteMcpCall(TOOL_CALL);
    request.startMcpCall(TOOL_CALL).end(DONE);
    request.end({ ...OK, route: '/:server/mcp', facts: { mcp_server: 'issues' } });
    await tracing.close();
    const described = {
      'gateway.mcp_server': 'issues',
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'search',
    };
    expect(collector.spans.map(({ name }) => name)).toEqual(['tools/call search', 'POST /:server/mcp']);
    expect(collector.spans[0]?.attributes).toEqual({ ...described, 'http.response.status_code': 200 });
    expect(collector.spans[1]?.attributes).toMatchObject(described);
  });

  it.each([
    ['its method alone', PING, 'ping'],
    ['what else it is', { ...PING, label: 'response', rpcMethod: undefined }, 'response'],
    ['as much of its names as any has', { ...PING, rpcMethod: 'm'.repeat(100_000) }, 'm'.repeat(512)],
  ])('names the MCP span by %s', async (_what, call, name) => {
    tracing.startRequest('POST', readTraceHeaders({})).startMcpCall(call).end(DONE);
    await tracing.close();
    expect(collector.spans.map((span) => span.name)).toEqual([name]);
    expect(collector.spans[0]?.attributes).not.toHaveProperty('gen_ai.tool.name');
  });

  it.each([
    [500, undefined, '500'],
    [200, 'provider_invalid_response', 'provider_invalid_response'],
    [undefined, 'provider_failed', 'provider_failed'],
  ])('maps the status %s and the error %s to the error type %s of the MCP span', async (status, error, type) => {
    tracing.startRequest('POST', readTraceHeaders({})).startMcpCall(PING).end({ status, error });
    await tracing.close();
    expect(collector.spans[0]).toMatchObject({ status: ERROR, attributes: { 'error.type': type } });
    expect(collector.spans[0]?.attributes['http.response.status_code']).toBe(status);
  });
});

describe('sampling', () => {
  it('exports no span of an unsampled request, and forwards the decision to the provider', async () => {
    const request = tracing.startRequest('POST', readTraceHeaders(UNSAMPLED));
    const call = callOf(request, '200');
    request.end(OK);
    await tracing.close();
    expect(call.headers['traceparent']).toMatch(new RegExp(`^00-${PARENT_TRACE}-[0-9a-f]{16}-00$`));
    expect(collector.exports).toEqual([]);
  });
});

describe('the export', () => {
  it('exports to the traces path of the endpoint, with or without a trailing slash', async () => {
    const slashed = startTracing(`${collector.url}/otlp/`);
    slashed.startRequest('GET', readTraceHeaders({})).end(OK);
    await slashed.close();
    tracing.startRequest('GET', readTraceHeaders({})).end(OK);
    await tracing.close();
    expect(collector.exports.map(({ path }) => path)).toEqual(['/otlp/v1/traces', '/v1/traces']);
  });

  it('warns once when the collector refuses, without quoting its response', async () => {
    collector.status = 400;
    tracing.startRequest('GET', readTraceHeaders({})).end(OK);
    await tracing.close();
    expect(logged()).toMatch(/"event":"tracing_problem","reason":"export failed: 400"/);
  });

  it('gives up on an unreachable collector without failing to close', async () => {
    await collector.close();
    tracing.startRequest('GET', readTraceHeaders({})).end(OK);
    await expect(tracing.close()).resolves.toBeUndefined();
    expect(logged()).toContain('export failed: ECONNREFUSED');
  });

  it('does not delay the end of the process for a silent collector', async () => {
    const silent = await startHttp(() => undefined);
    process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '3900';
    const patient = startTracing(silent.origin);
    patient.startRequest('GET', readTraceHeaders({})).end(OK);
    const startedAt = performance.now();
    await patient.close();
    expect(performance.now() - startedAt).toBeLessThan(3_800);
    expect(logged()).toContain('the collector took too long');
    await silent.close();
  });

  it('does not log a header that the exporter refuses', async () => {
    process.env['OTEL_EXPORTER_OTLP_HEADERS'] = 'authorization=Bearer%0Aforbidden';
    try {
      const broken = startTracing(collector.url);
      broken.startRequest('GET', readTraceHeaders({})).end(OK);
      await broken.close();
      expect(logged()).toContain('tracing_problem');
      expect(logged()).not.toContain('forbidden');
    } finally {
      delete process.env['OTEL_EXPORTER_OTLP_HEADERS'];
    }
  });
});
