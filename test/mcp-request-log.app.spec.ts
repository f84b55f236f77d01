// The fields of the log line of a request to an MCP server.
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../src/common/json/read.js';
import { eventually } from './support/eventually.js';
import { brokenEvents, events, json, plain } from './support/mcp-raw-server.js';
import { rawMcpGateway } from './support/raw-mcp-gateway.js';
import { requestLine } from './support/request-line.js';
import { ADMIN_KEY } from './support/test-app.js';

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search' } };
const RPC_ERROR = { jsonrpc: '2.0', id: 1, error: { code: -32_000, message: 'the tool failed' } };
const MS = expect.any(Number);

const mcp = rawMcpGateway();

async function lineOf(body: object | string, method = 'POST'): Promise<JsonObject> {
  const traceId = randomUUID();
  // Some answers are cut off.
  await mcp
    .call(`/${await mcp.register()}/mcp`, body, { 'x-gateway-trace-id': traceId }, method)
    .catch(() => undefined);
  return requestLine(mcp.gateway, traceId);
}

describe('the log line of a call', () => {
  it.each([
    ['JSON', json({ jsonrpc: '2.0', id: 1, result: {} })],
    ['events', events(['data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'])],
    ['an error of the tool', json(RPC_ERROR)],
  ])('logs method, status and time of an answer that is %s', async (_what, answer) => {
    mcp.raw.answerWith(answer);
    const line = await lineOf(CALL);
    expect(line).toMatchObject({ level: 'info', status: 200, mcp_method: 'tools/call' });
    expect(line).toMatchObject({ upstream_status: 200, upstream_ms: MS });
    expect(line).not.toHaveProperty('error_code');
  });

  it.each([500, 503])('does not log a status %i of the server as an error of the gateway', async (status) => {
    mcp.raw.answerWith(plain(status, {}, 'no'));
    const line = await lineOf(CALL);
    expect(line).toMatchObject({ level: 'info', status, mcp_method: 'tools/call', upstream_status: status });
    expect(line).not.toHaveProperty('error_code');
  });

  it.each([
    ['GET', events([': nothing\n\n'])],
    ['DELETE', plain(204)],
  ])('logs the method of a %s', async (method, answer) => {
    mcp.raw.answerWith(answer);
    expect(await lineOf('', method)).toMatchObject({ mcp_method: method, upstream_status: MS, upstream_ms: MS });
  });

  it('logs that the server broke the stream off, and its status', async () => {
    mcp.raw.answerWith(brokenEvents);
    expect(await lineOf(CALL)).toMatchObject({
      status: 200,
      mcp_method: 'tools/call',
      upstream_status: 200,
      error_code: 'provider_invalid_response',
    });
  });

  it("logs the server's status when the gateway returns another one", async () => {
    mcp.raw.answerWith(plain(401));
    expect(await lineOf(CALL)).toMatchObject({
      status: 502,
      upstream_status: 401,
      error_code: 'provider_credential_rejected',
    });
  });

  it.each([
    ['host', { host: 'evil.example.com' }],
    ['origin', { origin: 'https://evil.example.com' }],
  ])('logs the error code of a refused %s', async (reason, headers) => {
    const [slug, traceId] = [await mcp.register(), randomUUID()];
    await mcp.call(`/${slug}/mcp`, CALL, { ...headers, 'x-gateway-trace-id': traceId });
    expect(await requestLine(mcp.gateway, traceId)).toMatchObject({
      status: 403,
      error_code: 'permission_denied',
      error_reason: reason,
    });
  });

  it('logs the method when the client disconnects', async () => {
    const [slug, traceId, body] = [await mcp.register(), randomUUID(), JSON.stringify(CALL)];
    mcp.raw.answerWith(() => undefined);
    const client = connect(Number(new URL(mcp.gateway.url).port), '127.0.0.1');
    const { host } = new URL(mcp.gateway.url);
    const head = [
      `POST /${slug}/mcp HTTP/1.1`,
      `host: ${host}`,
      `x-gateway-api-key: ${ADMIN_KEY}`,
      `x-gateway-trace-id: ${traceId}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
    ];
    client.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    await eventually(() => mcp.raw.received.length === 1);
    client.destroy();
    expect(await requestLine(mcp.gateway, traceId)).toMatchObject({ status: 499, mcp_method: 'tools/call' });
  });
});
