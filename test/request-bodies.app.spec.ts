// When the gateway asks for a body, and which bodies it reads.
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rawMcpGateway } from './support/raw-mcp-gateway.js';
import { type ByteProvider, startByteProvider } from './support/byte-provider.js';
import { eventually } from './support/eventually.js';
import { jsonOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const BODY = '{"name":"one","slug":"SLUG"}';
const PING = '{"jsonrpc":"2.0","id":7,"method":"ping"}';
const JSON_TYPE = { 'content-type': 'application/json' };
const KEY = { 'x-gateway-api-key': ADMIN_KEY };

const mcp = rawMcpGateway();
let provider: ByteProvider;
let files: Readonly<Record<string, string>>;

beforeAll(async () => {
  provider = await startByteProvider();
  const config = { base_url: `${provider.url}/v1` };
  const fields = { name: 'files', provider: 'openai-compatible', key: 'provider-key', config };
  const { slug } = await mcp.admin.create('/v1/virtual-keys', fields);
  files = { ...KEY, 'x-gateway-virtual-key': String(slug) };
});
afterAll(() => provider.close());

interface Conversation {
  readonly socket: Socket;
  readonly received: () => string;
}

/** Sends a head that expects to be asked for its body. */
async function expectContinue(path: string, headers: Readonly<Record<string, string>>): Promise<Conversation> {
  const { hostname, port, host } = new URL(mcp.gateway.url);
  let text = '';
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined).on('data', (chunk) => (text += chunk.toString()));
  const lines = Object.entries({ host, expect: '100-continue', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  await eventually(() => text.includes('\r\n\r\n'));
  return { socket, received: () => text };
}

describe('a client that expects to be asked for its body', () => {
  it.each<[string, string, Readonly<Record<string, string>>, number]>([
    ['without a key', '/v1/workspaces', {}, 401],
    ['with an unknown key', '/v1/workspaces', { 'x-gateway-api-key': 'tg_unknown' }, 401],
    ['at an unknown address', '/v1/nothing', KEY, 404],
    ['without a key at an upload', '/v1/files', { 'content-type': 'multipart/form-data; boundary=b' }, 401],
    ['without a key at an MCP server', '/nothing/mcp', {}, 401],
    ['with a body that is compressed', '/v1/workspaces', { ...KEY, 'content-encoding': 'gzip' }, 415],
  ])('is refused at once, and its connection ends: %s', async (_what, path, headers, status) => {
    const length = { 'content-length': '1000000' };
    const { socket, received } = await expectContinue(path, { ...JSON_TYPE, ...length, ...headers });
    await eventually(() => socket.readableEnded);
    expect(received()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(received()).toMatch(/\r\nconnection: close\r\n/i);
    expect(received()).not.toContain('100 Continue');
    socket.destroy();
  });

  it('is asked for its body when its key is known, and keeps its connection', async () => {
    const body = BODY.replace('SLUG', 'expected');
    const headers = { ...KEY, ...JSON_TYPE, 'content-length': String(body.length) };
    const { socket, received } = await expectContinue('/v1/workspaces', headers);
    expect(received()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(body);
    await eventually(() => received().includes('HTTP/1.1 201'));
    expect(received()).toMatch(/\r\nconnection: keep-alive\r\n/i);
    expect(received().match(/100 Continue/g)).toHaveLength(1);
    socket.destroy();
  });

  it('is asked for an upload and for an MCP message', async () => {
    provider.answerWith((request, response) => {
      request.resume().on('end', () => response.writeHead(200, JSON_TYPE).end('{"id":"file-1","object":"file"}'));
    });
    const upload = { ...files, 'content-type': 'multipart/form-data; boundary=b', 'content-length': '5' };
    const slug = await mcp.register();
    for (const [path, headers, body] of [
      ['/v1/files', upload, 'bytes'],
      [`/${slug}/mcp`, { ...KEY, ...JSON_TYPE, 'content-length': String(PING.length) }, PING],
    ] as const) {
      const { socket, received } = await expectContinue(path, headers);
      expect(received()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
      socket.write(body);
      await eventually(() => received().includes('HTTP/1.1 200'));
      socket.destroy();
    }
  });
});

describe('JSON with a byte order mark', () => {
  it('is read in a management body, and in an MCP message, which goes on without it', async () => {
    const body = Buffer.concat([MARK, Buffer.from(BODY.replace('SLUG', 'marked'))]);
    const created = await send(`${mcp.gateway.url}/v1/workspaces`, { headers: { ...KEY, ...JSON_TYPE }, body });
    expect([created.status, jsonOf(created)]).toMatchObject([201, { slug: 'marked' }]);
    const slug = await mcp.register();
    const message = Buffer.concat([MARK, Buffer.from(PING)]);
    await send(`${mcp.gateway.url}/${slug}/mcp`, { headers: { ...KEY, ...JSON_TYPE }, body: message });
    expect(mcp.raw.received.at(-1)?.body.toString('latin1')).toBe(PING);
  });

  it('is read in an answer of a provider, and passed on without it', async () => {
    const list = '{"object":"list","data":[],"has_more":false}';
    provider.answerWith((_request, response) => {
      response.writeHead(200, JSON_TYPE).end(Buffer.concat([MARK, Buffer.from(list)]));
    });
    const answer = await fetch(`${mcp.gateway.url}/v1/batches`, { headers: files });
    expect(Buffer.from(await answer.arrayBuffer()).toString('latin1')).toBe(list);
  });
});

describe('a compressed body', () => {
  it('of a client is refused, with what is accepted', async () => {
    const headers = { ...KEY, ...JSON_TYPE, 'content-encoding': 'gzip' };
    const body = gzipSync(BODY);
    const refused = await send(`${mcp.gateway.url}/v1/workspaces`, { headers, body });
    expect([refused.status, refused.headers['accept-encoding']]).toEqual([415, 'identity']);
  });

  it('of a provider is decoded where it is buffered and where it is streamed', async () => {
    const list = '{"object":"list","data":[],"has_more":false}';
    provider.answerWith((_request, response) => {
      response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(gzipSync(list));
    });
    for (const path of ['/v1/batches', '/v1/files/file-1/content']) {
      const answer = await send(mcp.gateway.url + path, { method: 'GET', headers: files });
      expect([answer.status, answer.headers['content-encoding'], answer.text]).toEqual([200, undefined, list]);
    }
  });
});
