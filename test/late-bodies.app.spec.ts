// A body that is buffered in memory must arrive in time. A streamed body may take long, but not be silent.
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { McpCall } from '../src/mcp/calls/mcp-call.entity.js';
import { McpCallRecorder } from '../src/mcp/calls/mcp-call.recorder.js';
import { type ByteProvider, startByteProvider } from './support/byte-provider.js';
import { HalfSent } from './support/half-sent.js';
import { rawMcpGateway } from './support/raw-mcp-gateway.js';
import { jsonOf, refusalOf } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const KEY = { 'x-gateway-api-key': ADMIN_KEY };
const HEADERS = { ...KEY, 'content-type': 'application/json' };
const BODY = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ping' });
const LATE = { status: 408, code: 'request_timeout', param: null, source: 'gateway' };

const mcp = rawMcpGateway({
  JSON_BODY_TIMEOUT_MS: '1000',
  BODY_SILENCE_MS: '2000',
  PROVIDER_TIMEOUT_MS: '500',
  MCP_CALLS_PER_CALLER: '1',
});
let provider: ByteProvider;
let virtualKey: string;

beforeAll(async () => {
  provider = await startByteProvider();
  const { slug } = await mcp.admin.create('/v1/virtual-keys', {
    name: 'files',
    provider: 'openai-compatible',
    key: 'provider-key',
    config: { base_url: `${provider.url}/v1` },
  });
  virtualKey = String(slug);
});
afterAll(() => provider.close());

describe('a body that does not arrive completely in time', () => {
  it.each(['/v1/workspaces', '/v1/rerank'])('refuses a late body and closes its connection: %s', async (path) => {
    const call = new HalfSent(mcp.gateway.url + path, { ...HEADERS, 'x-gateway-virtual-key': virtualKey }, BODY);
    const answer = await call.answer;
    expect(refusalOf(answer)).toEqual(LATE);
    expect(answer.headers.connection).toBe('close');
    await call.closed;
  });

  it('refuses a late MCP body as JSON-RPC, releases its slot and records the call', async () => {
    const slug = await mcp.register();
    for (let calls = 0; calls < 2; calls += 1) {
      const call = new HalfSent(`${mcp.gateway.url}/${slug}/mcp`, HEADERS, BODY);
      const answer = await call.answer;
      expect([answer.status, jsonOf(answer)]).toMatchObject([408, { id: null, error: { data: { code: LATE.code } } }]);
      await call.closed;
    }
    await mcp.gateway.app.get(McpCallRecorder, { strict: false }).flush();
    const rows = await mcp.gateway.dataSource.getRepository(McpCall).findBy({ serverSlug: slug });
    expect(rows).toMatchObject(Array(2).fill({ status: 408 }));
    expect(mcp.raw.received).toEqual([]);
  });

  it.each([
    ['is silent', 0],
    ['arrives byte by byte', 1],
  ])('blames the client for an upload that %s', async (_how, bytesEach) => {
    provider.answerWith((incoming) => void incoming.resume());
    const headers = { ...KEY, 'x-gateway-virtual-key': virtualKey, 'content-type': 'multipart/form-data; boundary=b' };
    const call = new HalfSent(`${mcp.gateway.url}/v1/files`, headers, 'x'.repeat(1_000));
    const sending = setInterval(() => call.send(bytesEach), 200);
    const answer = await call.answer;
    clearInterval(sending);
    expect(refusalOf(answer)).toEqual(LATE);
    expect(answer.headers.connection).toBe('close');
    await call.closed;
  });

  it('allows a slow upload', async () => {
    let received = '';
    provider.answerWith((incoming, response) => {
      void buffer(incoming).then((body) => {
        received = body.toString();
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    });
    const upload = request(`${mcp.gateway.url}/v1/files`, {
      method: 'POST',
      agent: false,
      headers: { ...KEY, 'x-gateway-virtual-key': virtualKey, 'content-type': 'multipart/form-data; boundary=b' },
    });
    const status = new Promise((resolve, reject) => {
      upload.on('error', reject).on('response', (answer) => resolve(answer.resume().statusCode));
    });
    upload.write('first, ');
    // As long as the limit of a JSON body, and longer.
    expect((await new HalfSent(`${mcp.gateway.url}/v1/workspaces`, HEADERS, BODY).answer).status).toBe(408);
    upload.end('last');
    expect(await status).toBe(200);
    expect(received).toBe('first, last');
  });
});
