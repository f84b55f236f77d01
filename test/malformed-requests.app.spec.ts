import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readObject } from '../src/common/json/read.js';
import { rawExchange } from './support/raw-exchange.js';
import { send } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const TRACE_ID = /\r\nx-gateway-trace-id: (\S+)\r\n/i;
const NO_ROUTE = 'GET /v1/nothing HTTP/1.1\r\nconnection: close\r\n';

let gateway: TestApp;

beforeAll(async () => {
  gateway = await startTestApp();
});

afterAll(async () => {
  await gateway.close();
});

interface Exchange {
  readonly status: number;
  readonly traceId: string;
  readonly error: object;
}

async function exchange(text: string): Promise<Exchange> {
  const answer = await rawExchange(Number(new URL(gateway.url).port), text);
  const body: unknown = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
  return {
    status: Number(answer.split(' ', 2)[1]),
    traceId: TRACE_ID.exec(answer)?.[1] ?? '',
    error: readObject(readObject(body, 'body')['error'], 'body.error'),
  };
}

function linesOf(traceId: string): readonly unknown[] {
  const lines = gateway.log().split('\n');
  return lines.filter((line) => line.includes(`"${traceId}"`)).map((line): unknown => JSON.parse(line));
}

async function counted(code: number): Promise<number> {
  const { text } = await send(`${gateway.url}/metrics`, { method: 'GET' });
  return Number(
    new RegExp(`^gateway_http_requests_total\\{route="unmatched",code="${code}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
  );
}

describe('malformed HTTP requests', () => {
  it.each([
    ['no HTTP', 'NONSENSE\r\n\r\n', 400, 'HPE_INVALID_METHOD'],
    [
      'a head that is too large',
      `GET / HTTP/1.1\r\nhost: a\r\nx-long: ${'a'.repeat(20_000)}\r\n\r\n`,
      431,
      'HPE_HEADER_OVERFLOW',
    ],
  ])('refuses, counts and logs malformed HTTP: %s', async (_what, text, status, reason) => {
    const before = await counted(status);
    const refusal = await exchange(text);
    expect(refusal).toMatchObject({ status, error: { code: 'validation_failed', source: 'gateway' } });
    expect(await counted(status)).toBe(before + 1);
    expect(linesOf(refusal.traceId)).toEqual([
      expect.objectContaining({
        event: 'malformed_request',
        status,
        error_code: 'validation_failed',
        error_reason: reason,
      }),
    ]);
  });
});

describe('requests with unusual heads', () => {
  it.each([
    ['no host', 'accept: */*\r\n'],
    ['two hosts', 'host: a\r\nHost: b\r\n'],
    ['a host twice', 'host: a\r\nhost: a\r\n'],
    ['a list of hosts', 'host: a, b\r\n'],
    ['a host with a user', 'host: user@a\r\n'],
    ['a host with a path', 'host: a/b\r\n'],
  ])('refuses a request at any address with the common error body: %s', async (_what, headers) => {
    for (const path of ['/v1/workspaces', '/v1/nothing', '/health/live', '/docs/openapi.json', '/server/mcp']) {
      const refusal = await exchange(`${NO_ROUTE.replace('/v1/nothing', path)}${headers}\r\n`);
      expect(refusal).toMatchObject({ status: 400, error: { code: 'validation_failed', param: 'host' } });
      expect(linesOf(refusal.traceId)).toMatchObject([{ event: 'request', status: 400 }]);
    }
  });

  it.each(['a', 'a:8787', '127.0.0.1:80', '[::1]:8787', 'my_host.internal.', ''])(
    'accepts the host %j',
    async (host) => {
      expect((await exchange(`${NO_ROUTE}host: ${host}\r\n\r\n`)).status).toBe(404);
    },
  );

  it('refuses an HTTP/1.0 request with two hosts', async () => {
    const refusal = await exchange('GET /v1/workspaces HTTP/1.0\r\nhost: a\r\nhost: b\r\n\r\n');
    expect(refusal).toMatchObject({ status: 400, error: { param: 'host' } });
  });

  it('accepts an HTTP/1.0 request without a host', async () => {
    const { status } = await exchange('GET /v1/workspaces HTTP/1.0\r\n\r\n');
    expect(status).toBe(401);
  });

  it('answers a request with an unknown Expect header', async () => {
    const answer = await exchange(`${NO_ROUTE}host: a\r\nexpect: wonders\r\n\r\n`);
    expect(answer).toMatchObject({ status: 404, error: { code: 'operation_not_offered' } });
    expect(linesOf(answer.traceId)).toMatchObject([{ event: 'request', status: 404 }]);
  });
});

it('exports the state of the database connections as metrics', async () => {
  const { text } = await send(`${gateway.url}/metrics`, { method: 'GET' });
  const states = [...text.matchAll(/^gateway_database_connections\{state="(\w+)"\} (\d+)$/gm)];
  expect(states.map(([, state]) => state)).toEqual(['in_use', 'idle', 'waiting']);
  expect(states.reduce((sum, [, , count]) => sum + Number(count), 0)).toBeGreaterThan(0);
});
