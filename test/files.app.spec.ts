import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { type ByteProvider, startByteProvider } from './support/byte-provider.js';
import { eventually } from './support/eventually.js';
import { cursorPages } from './support/fake-openai.js';
import { type Ask, openaiClient, plainly } from './support/openai-client.js';
import { PROVIDER_KEY, type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { jsonOf, refusalOf } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const FILE = {
  id: 'file-1',
  object: 'file',
  bytes: 5,
  created_at: 1_711_471_533,
  filename: 'a.jsonl',
  purpose: 'batch',
};
/** Every byte value, including line breaks and invalid UTF-8. */
const BYTES = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256));
const MULTIPART = 'multipart/form-data; boundary="a b"';
const GIB = 1_073_741_824;

let gateway: RerankGateway;
let provider: ByteProvider;
let slug: string;
let ask: Ask;
let client: OpenAI;

beforeAll(async () => {
  [gateway, provider] = await Promise.all([startRerankGateway(), startByteProvider()]);
  slug = await gateway.virtualKey('openai-compatible', { config: { base_url: `${provider.url}/v1` } });
  ask = plainly(gateway, slug);
  client = openaiClient(gateway, slug);
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
});

interface Received {
  readonly request: IncomingMessage;
  readonly body: Buffer;
}

/** Makes the provider read each request completely and answer it; returns the received requests in order. */
function receiving(answer: (response: ServerResponse) => void): readonly Received[] {
  const received: Received[] = [];
  provider.answerWith((incoming, response) => {
    void buffer(incoming).then((body) => {
      received.push({ request: incoming, body });
      answer(response);
    });
  });
  return received;
}

const answering =
  (body: string | Buffer, headers: Readonly<Record<string, string>> = {}, status = 200) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };

/** An upload of which only the head has been sent. */
function announce(headers: Readonly<Record<string, string>>) {
  const upload = request(`${gateway.app.url}/v1/files`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': MULTIPART, 'content-length': String(GIB), ...headers },
  });
  upload.on('error', () => undefined);
  upload.flushHeaders();
  return upload;
}

const KEYS = () => ({ 'x-gateway-api-key': ADMIN_KEY, 'x-gateway-virtual-key': slug });

describe('files through the official SDK', () => {
  it('uploads a file as a form', async () => {
    const received = receiving(answering(JSON.stringify(FILE)));
    const file = await toFile(Buffer.from('{"a":1}\n'), 'in.jsonl');
    expect(await client.files.create({ file, purpose: 'batch' })).toEqual(FILE);
    const [{ request: sent, body } = { request: undefined, body: '' }] = received;
    expect(sent).toMatchObject({ method: 'POST', url: '/v1/files' });
    expect(sent?.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
    const boundary = /boundary=(.+)$/.exec(sent?.headers['content-type'] ?? '')?.[1] ?? 'none';
    expect(body.toString().startsWith(`--${boundary}`)).toBe(true);
    expect(body.toString()).toContain('{"a":1}\n');
    expect(body.toString()).toContain('name="purpose"\r\n\r\nbatch');
  });

  it('retrieves, deletes and downloads a file', async () => {
    let received = receiving(answering(JSON.stringify(FILE)));
    expect(await client.files.retrieve('file-1')).toEqual(FILE);
    await client.files.delete('file-1');
    expect(received.map(({ request: { method, url } }) => `${method} ${url}`)).toEqual([
      'GET /v1/files/file-1',
      'DELETE /v1/files/file-1',
    ]);
    received = receiving(answering(BYTES, { 'content-type': 'application/octet-stream' }));
    const content = await client.files.content('file-1');
    expect(Buffer.compare(Buffer.from(await content.arrayBuffer()), BYTES)).toBe(0);
    expect(received[0]?.request.url).toBe('/v1/files/file-1/content');
  });

  it('lists each of 250 files once and in order, with the requested limit only', async () => {
    const all = Array.from({ length: 250 }, (_, index) => ({ ...FILE, id: `file-${index}` }));
    const asked: string[] = [];
    provider.answerWith((incoming, response) => {
      const path = incoming.url ?? '';
      asked.push(path);
      cursorPages(all)(response, { method: 'GET', path, headers: {}, body: '', closedEarly: false });
    });
    const seen: string[] = [];
    for await (const file of client.files.list({ limit: 99, purpose: 'batch' })) seen.push(file.id);
    expect(seen).toEqual(all.map((file) => file.id));
    await client.files.list();
    expect(asked).toEqual([
      '/v1/files?limit=99&purpose=batch',
      '/v1/files?limit=99&purpose=batch&after=file-98',
      '/v1/files?limit=99&purpose=batch&after=file-197',
      '/v1/files',
    ]);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=0x10', 'limit'],
    ['constructor=1', 'constructor'],
    ['__proto__=1', '__proto__'],
    ['limit=10001', 'limit'],
    ['order=up', 'order'],
    ['after=', 'after'],
    ['purpose=', 'purpose'],
    ['before=file-1', 'before'],
  ])('refuses to list files with ?%s', async (query, param) => {
    const received = receiving(answering('{}'));
    const refusal = refusalOf(await ask('GET', `/files?${query}`));
    expect(refusal).toEqual({ status: 400, code: 'validation_failed', param, source: 'gateway' });
    expect(received).toHaveLength(0);
  });
});

describe('an upload', () => {
  it.each([
    ['its length', BYTES, String(BYTES.length)],
    ['no length', [BYTES.subarray(0, 10), BYTES.subarray(10)], undefined],
  ])('forwards an upload byte for byte with its own content type and %s', async (_what, body, length) => {
    const received = receiving(answering(JSON.stringify(FILE)));
    const upload = request(`${gateway.app.url}/v1/files`, {
      method: 'POST',
      agent: false,
      headers: { ...KEYS(), 'content-type': MULTIPART, ...(length === undefined ? {} : { 'content-length': length }) },
    });
    for (const piece of [body].flat()) upload.write(piece);
    upload.end();
    const [answer]: IncomingMessage[] = await once(upload, 'response');
    expect(answer?.statusCode).toBe(200);
    expect(Buffer.compare(received[0]?.body ?? Buffer.alloc(0), BYTES)).toBe(0);
    const headers = received[0]?.request.headers;
    expect([headers?.['content-type'], headers?.['content-length']]).toEqual([MULTIPART, length]);
  });

  it.each([
    ['no key', { 'x-gateway-virtual-key': 'any' }, 401, 'api_key_invalid'],
    ['no virtual key', { 'x-gateway-api-key': ADMIN_KEY }, 400, 'virtual_key_required'],
  ])('refuses an upload with %s before reading it', async (_what, headers, status, code) => {
    const connections = provider.connections;
    const upload = announce(headers);
    const [answer]: IncomingMessage[] = await once(upload, 'response');
    expect(answer?.statusCode).toBe(status);
    if (answer !== undefined) expect((await buffer(answer)).toString()).toContain(`"${code}"`);
    expect(provider.connections).toBe(connections);
    upload.destroy();
  });

  it('aborts the request to the provider when the client disconnects during an upload', async () => {
    let incoming: IncomingMessage | undefined;
    provider.answerWith((started) => {
      incoming = started;
      started.on('error', () => undefined).resume();
    });
    const upload = announce(KEYS());
    upload.write(BYTES);
    await eventually(() => incoming !== undefined);
    upload.destroy();
    await eventually(() => incoming?.destroyed === true);
    expect(incoming?.complete).toBe(false);
  });

  it.each(['close', 'keep-alive'])(
    "returns the provider's early refusal of an upload: connection %s",
    async (connection) => {
      provider.answerWith((_incoming, response) => {
        const body = JSON.stringify({ error: { message: 'file is too large', param: 'file' } });
        response.writeHead(413, { 'content-type': 'application/json', connection }).end(body);
      });
      const answer = await ask('POST', '/files', {
        body: Buffer.alloc(20 * 1_048_576),
        headers: { 'content-type': MULTIPART },
      });
      expect(refusalOf(answer)).toEqual({ status: 413, code: 'provider_rejected', param: 'file', source: 'provider' });
      expect(jsonOf(answer)).toMatchObject({ error: { message: 'file is too large' } });
    },
  );

  it('never retries an upload', async () => {
    const received = receiving(answering('{}', {}, 503));
    const answer = await ask('POST', '/files', { body: BYTES, headers: { 'content-type': MULTIPART } });
    expect(refusalOf(answer)).toMatchObject({ status: 502, code: 'provider_failed', source: 'provider' });
    expect(received).toHaveLength(1);
  });
});

describe('a download', () => {
  it('forwards the headers that describe the content, and drops all others', async () => {
    const kept = {
      'content-type': 'application/jsonl; charset=utf-8',
      'content-disposition': 'attachment; filename="out.jsonl"',
      'content-encoding': 'identity',
      'content-length': '3',
      etag: '"1"',
    };
    const dropped = { 'set-cookie': 'session=1', 'x-provider': 'p', 'access-control-allow-origin': '*' };
    receiving(answering('{}\n', { ...kept, ...dropped }));
    const answer = await ask('GET', '/files/file-1/content');
    expect([answer.status, answer.text]).toEqual([200, '{}\n']);
    expect(answer.headers).toMatchObject(kept);
    for (const name of Object.keys(dropped)) expect(answer.headers).not.toHaveProperty(name);
    expect(answer.headers['x-gateway-trace-id']).toBeTruthy();
  });

  it.each(['application/json', 'text/event-stream', 'text/html'])(
    'returns an empty body for an empty file of type %s',
    async (type) => {
      receiving(answering('', { 'content-type': type, 'content-length': '0' }));
      expect(await ask('GET', '/files/file-1/content')).toMatchObject({ status: 200, text: '' });
    },
  );

  it.each([
    ['with its length', { 'content-length': String(GIB) }],
    ['without its length', {}],
  ])('breaks the download when the provider fails in the middle: %s', async (_what, headers) => {
    provider.answerWith((_incoming, response) => {
      response.writeHead(200, headers).write(BYTES, () => response.destroy());
    });
    await expect(ask('GET', '/files/file-1/content')).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it("closes the provider's connection when the client disconnects during a download", async () => {
    let closed = false;
    provider.answerWith((_incoming, response) => {
      response.writeHead(200).write(BYTES);
      response.on('close', () => (closed = true));
    });
    const download = request(`${gateway.app.url}/v1/files/file-1/content`, { agent: false, headers: KEYS() }).end();
    download.on('error', () => undefined);
    const [answer]: IncomingMessage[] = await once(download, 'response');
    answer?.on('error', () => undefined);
    await once(answer ?? download, 'data');
    download.destroy();
    await eventually(() => closed);
  });

  it.each([
    [404, 404, 'provider_rejected'],
    [401, 502, 'provider_credential_rejected'],
    [500, 502, 'provider_failed'],
  ])('returns a JSON error when the provider answers a download with %i', async (status, expected, code) => {
    receiving(answering(JSON.stringify({ error: { message: 'no such file' } }), {}, status));
    const answer = await ask('GET', '/files/file-1/content');
    expect(refusalOf(answer)).toMatchObject({ status: expected, code, source: 'provider' });
  });
});
