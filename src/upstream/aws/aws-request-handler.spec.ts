import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { HttpRequest } from '@smithy/protocol-http';
import { NEVER_ABORTED } from '../../common/http/client-connection.js';
import { loopbackPolicy } from '../__fixtures__/calls.js';
import { type Loopback, startHttp } from '../__fixtures__/loopback.js';
import { loneSender } from '../egress/lone-sender.js';
import { awsRequestHandler } from './aws-request-handler.js';

const send = loneSender(loopbackPolicy(), 2_000);
const limits = { timeoutMs: 2_000, maxResponseBytes: 10_000, caller: NEVER_ABORTED };
const handler = awsRequestHandler((request) => send({ request, ...limits }));

let server: Loopback;

beforeEach(async () => {
  server = await startHttp((_request, response) => {
    const waits = { 'Retry-After': '5', 'x-amz-retry-after': '5000' };
    response.writeHead(503, { 'x-amzn-requestid': 'r-1', ...waits }).end('busy');
  });
});
afterEach(() => server.close());

function request(changes: Partial<HttpRequest> = {}): HttpRequest {
  const { protocol, hostname, port } = new URL(server.origin);
  const headers = { host: 'elsewhere', 'content-length': '99', 'x-amz-target': 'a.B' };
  const options = { protocol, hostname, port: Number(port), method: 'POST', path: '/', headers, body: '{}' };
  return new HttpRequest({ ...options, ...changes });
}

describe('awsRequestHandler', () => {
  it('sends headers and body, and returns the answer without a time to wait', async () => {
    const { response } = await handler.handle(request());
    expect(response.statusCode).toBe(503);
    expect(response.headers).toMatchObject({ 'x-amzn-requestid': 'r-1' });
    expect(response.headers).not.toHaveProperty('retry-after');
    expect(response.headers).not.toHaveProperty('x-amz-retry-after');
    expect(server.requests[0]?.headers).toMatchObject({ 'x-amz-target': 'a.B', 'content-length': '2' });
  });

  it('sends a query as the SDK gives it', async () => {
    await handler.handle(request({ query: { a: 'b/c+d', list: ['1', '2'], empty: null } }));
    expect(server.requests[0]?.url).toBe('/?a=b%2Fc%2Bd&list=1&list=2&empty=');
  });

  it('sends nothing with a body that is a stream', async () => {
    await expect(handler.handle(request({ body: new ReadableStream() }))).rejects.toThrow(TypeError);
    expect(server.requests).toHaveLength(0);
  });
});
