import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Response } from 'express';
import { startTelemetryServer, type TelemetryServer } from './__fixtures__/telemetry-server.js';
import { contextOf } from './request-context.js';
import { type RequestOutcome, type RequestSpan, Tracing } from './tracing.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

/** Records how each request ended. */
class FakeTracing extends Tracing {
  readonly ended: RequestOutcome[] = [];

  override startRequest(): RequestSpan {
    const startCall = (): never => {
      throw new Error('no call is expected here');
    };
    const noteMcpCall = (): void => undefined;
    return {
      prepareProviderCall: startCall,
      startMcpCall: startCall,
      noteMcpCall,
      follow: noteMcpCall,
      end: (outcome) => void this.ended.push(outcome),
    };
  }

  override async close(): Promise<void> {}
}

let server: TelemetryServer;
let tracing: FakeTracing;
/** Answers that tests hold open. */
let open: Response[];

beforeEach(async () => {
  open = [];
  tracing = new FakeTracing();
  server = await startTelemetryServer((app) => {
    app.post('/v1/items/:id', (request, response) => {
      Object.assign(contextOf(request).facts, { provider: 'cohere', virtual_key: 'search', documents: 3 });
      response.status(201).json({});
    });
    app.get('/fails', (request, response) => {
      contextOf(request).facts.error_code = 'internal_error';
      response.status(500).json({});
    });
    app.get('/fails-behind', (request, response) => {
      Object.assign(contextOf(request).facts, { error_code: 'internal_error', upstream_status: 500 });
      response.status(500).json({});
    });
    app.get('/passes-on', (request, response) => {
      contextOf(request).facts.upstream_status = 500;
      response.status(500).json({});
    });
    app.get('/rejects', (_request, response) => void response.status(502).json({}));
    app.get('/breaks-off', (request, response) => {
      contextOf(request).facts.error_code = 'provider_failed';
      response.write('part', () => response.destroy());
    });
    app.get('/waits', (_request, response) => void open.push(response));
    app.get('/health/live', (_request, response) => void response.json({}));
    app.get('/health/ready', (_request, response) => void response.status(503).json({}));
  }, tracing);
});

afterEach(() => server.close());

const requestsTotal = (): Promise<string> =>
  server.metrics.registry.getSingleMetricAsString('gateway_http_requests_total');

async function leave(path: string, when: () => boolean): Promise<void> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
  while (!when()) await new Promise((done) => setTimeout(done, 5));
  socket.destroy();
}

describe('the log line of a request', () => {
  it('has the ids, the route, the result and the facts of the request', async () => {
    const headers = {
      traceparent: `00-${TRACE}-${SPAN}-01`,
      'x-gateway-trace-id': 'order-17',
      'x-gateway-span-id': 'span-1',
      'x-gateway-span-name': 'rerank orders',
      'x-gateway-metadata': '{"team":"search"}',
    };
    await fetch(`${server.url}/v1/items/42?secret=1`, { method: 'POST', headers });
    const [line, ...others] = await server.lines(1);
    expect(others).toEqual([]);
    expect(line).toEqual({
      level: 'info',
      time: expect.any(String),
      event: 'request',
      trace_id: 'order-17',
      span_id: 'span-1',
      parent_span_id: SPAN,
      span_name: 'rerank orders',
      w3c_trace_id: TRACE,
      w3c_span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
      method: 'POST',
      route: '/v1/items/:id',
      status: 201,
      duration_ms: expect.any(Number),
      provider: 'cohere',
      virtual_key: 'search',
      documents: 3,
      metadata: { team: 'search' },
    });
  });

  it.each([
    ['/fails', { level: 'error', status: 500, error_code: 'internal_error' }],
    ['/fails-behind', { level: 'error', status: 500, error_code: 'internal_error', upstream_status: 500 }],
    ['/passes-on', { level: 'info', status: 500, upstream_status: 500 }],
    ['/rejects', { level: 'info', status: 502 }],
    ['/health/live', { level: 'debug', status: 200 }],
    ['/health/ready', { level: 'info', status: 503 }],
    ['/nothing/here?x=1', { level: 'info', status: 404, route: 'unmatched' }],
  ])('logs a request to %s as %j', async (path, expected) => {
    await fetch(server.url + path);
    const lines = await server.lines(1);
    expect(lines).toHaveLength(1);
    expect(lines).toMatchObject([expected]);
  });

  it('logs 499 when the client disconnects before the response', async () => {
    await leave('/waits', () => open.length > 0);
    await expect(server.lines(1)).resolves.toMatchObject([{ status: 499, route: '/waits', level: 'info' }]);
  });

  it('logs 499 when the client disconnects during the response', async () => {
    await leave('/waits', () => {
      for (const response of open) response.write('part');
      return open.length > 0;
    });
    await expect(server.lines(1)).resolves.toMatchObject([{ status: 499 }]);
  });

  it('logs one line per request of a shared connection', async () => {
    const one = 'GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n';
    await server.raw(one + one + one.replace('host', 'connection: close\r\nhost'));
    const lines = await server.lines(3);
    expect(lines.map(({ status }) => status)).toEqual([200, 200, 200]);
  });
});

describe('metrics of requests', () => {
  it('counts requests by the pattern of the route, never by the path as sent', async () => {
    await fetch(`${server.url}/v1/items/42`, { method: 'POST' });
    await fetch(`${server.url}/v1/items/43`, { method: 'POST' });
    await Promise.all(['/a', '/b', '/c/d'].map((path) => fetch(server.url + path)));
    await server.lines(5);
    const text = await requestsTotal();
    expect(text).toContain('gateway_http_requests_total{route="/v1/items/:id",code="201"} 2');
    expect(text).toContain('gateway_http_requests_total{route="unmatched",code="404"} 3');
    expect(text.match(/^gateway_http_requests_total\{/gm)).toHaveLength(2);
  });

  it('counts responses that the gateway aborts, and none that a client aborts', async () => {
    const brokenOff = (): Promise<string> =>
      server.metrics.registry.getSingleMetricAsString('gateway_http_answers_broken_off_total');
    await leave('/waits', () => {
      for (const response of open) response.write('part');
      return open.length > 0;
    });
    await server.lines(1);
    expect(await brokenOff()).not.toContain('{');
    await expect(fetch(`${server.url}/breaks-off`).then((answer) => answer.text())).rejects.toThrow();
    await expect(server.lines(2)).resolves.toMatchObject([{}, { status: 200, error_code: 'provider_failed' }]);
    expect(await brokenOff()).toContain('{route="/breaks-off"} 1');
  });

  it('counts requests in flight, and returns to zero when the client disconnects', async () => {
    const inFlight = async (): Promise<number | undefined> => (await server.metrics.inFlight.get()).values[0]?.value;
    await leave('/waits', () => open.length > 0);
    await server.lines(1);
    expect(await inFlight()).toBe(0);
    const waiting = fetch(`${server.url}/waits`);
    while (open.length < 2) await new Promise((done) => setTimeout(done, 5));
    expect(await inFlight()).toBe(1);
    open[1]?.json({});
    await (await waiting).text();
    await server.lines(2);
    expect(await inFlight()).toBe(0);
  });
});

describe('the span', () => {
  it('ends the span once, with the values of the log line', async () => {
    await fetch(`${server.url}/v1/items/42`, {
      method: 'POST',
      headers: { 'x-gateway-metadata': '{"team":"search"}' },
    });
    await server.lines(1);
    expect(tracing.ended).toEqual([
      {
        method: 'POST',
        scheme: 'http',
        route: '/v1/items/:id',
        status: 201,
        isBrokenOff: false,
        facts: { provider: 'cohere', virtual_key: 'search', documents: 3 },
        metadata: { team: 'search' },
      },
    ]);
  });

  it('ends the span without a route when no route matched', async () => {
    await fetch(`${server.url}/nothing`);
    await server.lines(1);
    expect(tracing.ended).toMatchObject([{ route: undefined, status: 404 }]);
  });

  it('ends the span with 499 when the client disconnects', async () => {
    await leave('/waits', () => open.length > 0);
    await server.lines(1);
    expect(tracing.ended).toMatchObject([{ route: '/waits', status: 499 }]);
  });
});
