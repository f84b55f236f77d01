import { afterEach, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { startLegacyMcpServer } from '../../../test/support/mcp-legacy-server.js';
import { send } from '../../../test/support/send.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { startProxying, targetAt } from '../proxy/__fixtures__/proxying.js';
import { EndpointRewriter } from './endpoint-rewriter.js';
import { clientEndpoint, messagePath, messageTarget, type AddressSeal } from './message-endpoint.js';

const SERVER = new URL('https://mcp.example.com/inner/sse?tenant=1');
const MESSAGES = '/alice/files/messages';
/** Stands for an HMAC over caller and server. */
const SEAL: AddressSeal = {
  seal: (text) => `${text}-tag`,
  open: (sealed) => {
    if (!sealed.endsWith('-tag')) throw new GatewayError('not_found');
    return sealed.slice(0, -4);
  },
};

const queryOf = (endpoint: string): URLSearchParams => new URL(endpoint, 'http://gateway').searchParams;
const toClient = (endpoint: string): string => clientEndpoint(messagePath(endpoint, SERVER), MESSAGES, SEAL);

describe('clientEndpoint and messageTarget', () => {
  it.each([
    ['/message?sessionId=a', 'https://mcp.example.com/message?sessionId=a'],
    ['message?sessionId=a', 'https://mcp.example.com/inner/message?sessionId=a'],
    ['https://mcp.example.com/m/?session_id=ü b&x=1', 'https://mcp.example.com/m/?session_id=%C3%BC%20b&x=1'],
  ])('convert the endpoint %s to our address and back', (endpoint, target) => {
    const ours = toClient(endpoint);
    expect(ours).toMatch(/^\/alice\/files\/messages\?sessionId=[\w-]+$/);
    expect(messageTarget(queryOf(ours), SERVER, SEAL).href).toBe(target);
  });

  it('accept an address of 4,096 characters and refuse a longer one', () => {
    const endpoint = '/message?token='.padEnd(4_096, 'x');
    expect(messageTarget(queryOf(toClient(endpoint)), SERVER, SEAL).href).toBe(SERVER.origin + endpoint);
    expect(() => toClient(`${endpoint}x`)).toThrow(expect.objectContaining({ code: 'provider_invalid_response' }));
  });

  it.each([
    'https://evil.example/message',
    '//evil.example/message',
    'http://mcp.example.com/message',
    'https://mcp.example.com:8443/message',
    'https://user:pw@mcp.example.com/message',
    'javascript:alert(1)',
    'http://[',
  ])('refuse %s, which has another origin', (endpoint) => {
    expect(() => toClient(endpoint)).toThrow(expect.objectContaining({ code: 'provider_invalid_response' }));
  });

  it.each([
    ['nothing', ''],
    ['what is not bound', 'sessionId=L21lc3NhZ2U'],
    ['two of them', 'sessionId=L20-tag&sessionId=L20-tag'],
    ['no path', `sessionId=${Buffer.from('message').toString('base64url')}-tag`],
    ['another host', `sessionId=${Buffer.from('//evil.example/').toString('base64url')}-tag`],
    ['too much', `sessionId=${'a'.repeat(5_000)}-tag`],
  ])('refuse %s in the query', (_what, query) => {
    expect(() => messageTarget(new URLSearchParams(query), SERVER, SEAL)).toThrow(
      expect.objectContaining({ code: 'not_found' }),
    );
  });
});

describe('EndpointRewriter', () => {
  const STREAM =
    ': hi\n\nevent: endpoint\ndata: /message?sessionId=a\n\nevent: message\ndata: {"endpoint":1}\n\ndata: ü';
  const rewriter = (): EndpointRewriter => new EndpointRewriter((endpoint) => endpoint.replace('/message', '/ours'));

  it.each([1, 2, 3, 7, 1_000])('rewrites the first event and nothing else, in chunks of %d bytes', (size) => {
    const filter = rewriter();
    const bytes = Buffer.from(STREAM);
    const out: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) out.push(filter.push(bytes.subarray(at, at + size)));
    out.push(filter.end());
    expect(Buffer.concat(out).toString()).toBe(STREAM.replace('data: /message', 'data: /ours'));
  });

  it('accepts a long message in one chunk with the endpoint', () => {
    const message = `data: "${'x'.repeat(20_000)}"`;
    const out = rewriter().push(Buffer.from(`event: endpoint\ndata: /message\n\n${message}\n\n${message}`));
    expect(out.toString()).toBe(`event: endpoint\ndata: /ours\n\n${message}\n\n${message}`);
  });

  it.each([
    ['has a message first', 'data: {"id":1}\n\n'],
    ['has no end', 'x'.repeat(20_000)],
    ['has comments without an end', ': comment\n\n'.repeat(2_000)],
  ])('breaks off a stream that %s', (_what, text) => {
    expect(() => rewriter().push(Buffer.from(text))).toThrow();
  });

  it('breaks off a stream that ends without an endpoint', () => {
    expect(() => rewriter().end()).toThrow();
  });
});

describe('HTTP+SSE through the gateway', () => {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const thing of opened.splice(0).reverse()) await thing.close();
  });

  it('works with the official client and server', async () => {
    const server = await startLegacyMcpServer();
    const gateway = await startProxying(targetAt(server.endpoint, { transport: 'sse' }), {
      change: (request) => {
        if (request.method === 'POST') {
          return { target: targetAt(messageTarget(queryOf(request.url ?? ''), server.endpoint, SEAL)) };
        }
        const rewrite = (endpoint: string): string =>
          clientEndpoint(messagePath(endpoint, server.endpoint), MESSAGES, SEAL);
        return { hooks: { bodyFilter: () => new EndpointRewriter(rewrite) } };
      },
    });
    const client = new Client({ name: 'test', version: '1' });
    opened.push(server, gateway, client);
    await client.connect(new SSEClientTransport(new URL('/alice/files/sse', gateway.origin)));
    const result = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
    expect(result).toMatchObject({ content: [{ text: 'hello' }] });
    const addresses = gateway.requests.filter(({ method }) => method === 'POST').map(({ url }) => url);
    expect(addresses.every((url) => url?.startsWith(`${MESSAGES}?sessionId=`))).toBe(true);
    const stolen = await send(`${gateway.origin}${MESSAGES}?sessionId=L21lc3NhZ2U`, { body: '{}' });
    expect(stolen.status).toBe(404);
  });
});
