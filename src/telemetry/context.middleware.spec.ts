import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startTelemetryServer, type TelemetryServer } from './__fixtures__/telemetry-server.js';
import { contextOf } from './request-context.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let server: TelemetryServer;

beforeEach(async () => {
  server = await startTelemetryServer((app) => {
    app.get('/echo', (request, response) => {
      const { headers, rawHeaders, headersDistinct } = request;
      response.json({ headers, rawHeaders, headersDistinct, trace: contextOf(request).trace });
    });
    app.get('/guarded', (request, response) => {
      contextOf(request).assertTraceable();
      response.json(contextOf(request).trace.traceId);
    });
    app.get('/later', (request, response) => {
      setTimeout(() => response.json(contextOf(request).trace.traceId), 5);
    });
  });
});

afterEach(() => server.close());

describe('identity headers that a client sends', () => {
  it.each([
    ['x-user-claims: forged'],
    ['X-User-Claims: forged'],
    ['X-USER-JWT: forged'],
    ['x-user-jwt: forged\r\nX-User-JWT: forged twice'],
    ['x-User-Claims: forged\r\naccept: */*\r\nx-user-claims: forged again\r\nx-user-jwt: forged too'],
  ])('removes identity headers from every view of the request: %j', async (sent) => {
    const answer = await server.raw(
      `GET /echo HTTP/1.1\r\nhost: x\r\n${sent}\r\nx-kept: yes\r\nconnection: close\r\n\r\n`,
    );
    expect(answer).toContain('HTTP/1.1 200');
    expect(answer).not.toContain('forged');
    expect(answer).not.toMatch(/x-user-(claims|jwt)/i);
    expect(answer).toContain('"rawHeaders":["host","x",');
    expect(answer).toContain('"x-kept","yes"');
  });
});

describe('the trace id', () => {
  it('returns the trace id that the caller sent, and keeps it on the request', async () => {
    const response = await fetch(`${server.url}/later`, { headers: { 'x-gateway-trace-id': 'order-17' } });
    expect(response.headers.get('x-gateway-trace-id')).toBe('order-17');
    await expect(response.json()).resolves.toBe('order-17');
  });

  it('creates a new trace id for each request without one', async () => {
    const ids = await Promise.all(
      ['/later', '/later'].map(async (path) => {
        const response = await fetch(server.url + path);
        expect(await response.json()).toBe(response.headers.get('x-gateway-trace-id'));
        return response.headers.get('x-gateway-trace-id');
      }),
    );
    expect(ids).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it('returns the trace id with a 404', async () => {
    const response = await fetch(`${server.url}/nothing`, { headers: { 'x-gateway-trace-id': 'order-17' } });
    expect([response.status, response.headers.get('x-gateway-trace-id')]).toEqual([404, 'order-17']);
  });
});

describe('a broken tracing header', () => {
  it("refuses a broken tracing header under the caller's trace id", async () => {
    const headers = { 'x-gateway-metadata': '{', 'x-gateway-trace-id': 'order-17' };
    const response = await fetch(`${server.url}/guarded`, { headers });
    expect([response.status, response.headers.get('x-gateway-trace-id')]).toEqual([400, 'order-17']);
    await expect(server.lines(1)).resolves.toMatchObject([{ trace_id: 'order-17', status: 400 }]);
  });

  it('leaves the refusal of a broken tracing header to the route', async () => {
    const response = await fetch(`${server.url}/echo`, { headers: { 'x-gateway-metadata': '{' } });
    expect([response.status, await response.json()]).toMatchObject([200, { trace: { metadata: {} } }]);
    const sound = await fetch(`${server.url}/guarded`, { headers: { 'x-gateway-metadata': '{}' } });
    expect(sound.status).toBe(200);
  });

  it('refuses a broken trace id under a new one', async () => {
    const response = await fetch(`${server.url}/guarded`, { headers: { 'x-gateway-trace-id': 'caf\u00e9' } });
    expect([response.status, response.headers.get('x-gateway-trace-id')]).toEqual([400, expect.stringMatching(UUID)]);
  });
});
