// Refusals by the gateway for clients of MCP servers: JSON-RPC with the reason, readable by browsers too.
import { describe, expect, it } from '@jest/globals';
import { readObject } from '../src/common/json/read.js';
import { McpServer } from '../src/mcp/servers/mcp-server.entity.js';
import { forEvery } from './support/for-every.js';
import { events, plain } from './support/mcp-raw-server.js';
import { rawExchange } from './support/raw-exchange.js';
import { rawMcpGateway } from './support/raw-mcp-gateway.js';
import { type Answer, jsonOf } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const PING = { jsonrpc: '2.0', id: 7, method: 'ping' };
const COMPRESSED = 'The request body must not be compressed.';

const mcp = rawMcpGateway();

/** The code, field and message of a refusal, which must be JSON-RPC. */
function refusalOf(answer: Answer): object {
  const { jsonrpc, id, error } = jsonOf(answer);
  const { message, data } = readObject(error, 'error');
  const { code, param } = readObject(data, 'error.data');
  return { status: answer.status, jsonrpc, id, code, param, message };
}

const PAGE = 'https://app.example.com';
const BROKEN = [
  ['x-gateway-metadata', { 'x-gateway-metadata': '{bad' }],
  ['x-gateway-trace-id', { 'x-gateway-trace-id': 'caf\u00e9' }],
] as const;

describe('a malformed tracing header', () => {
  it.each(BROKEN)('refuses a malformed tracing header as JSON-RPC with CORS headers: %s', async (param, header) => {
    const slug = await mcp.register({ allowed_origins: [PAGE] });
    for (const method of ['POST', 'GET', 'DELETE']) {
      const answer = await mcp.call(`/${slug}/mcp`, method === 'POST' ? PING : '', { ...header, origin: PAGE }, method);
      expect(refusalOf(answer)).toMatchObject({ status: 400, jsonrpc: '2.0', code: 'validation_failed', param });
      expect(answer.headers['access-control-allow-origin']).toBe(PAGE);
      expect(answer.headers['x-gateway-trace-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
    expect(mcp.raw.received).toEqual([]);
  });

  it("checks the browser's origin before the tracing headers", async () => {
    const slug = await mcp.register({ allowed_origins: [PAGE] });
    const answer = await mcp.call(`/${slug}/mcp`, PING, { ...BROKEN[0][1], origin: 'https://evil.example.com' });
    expect(refusalOf(answer)).toMatchObject({ status: 403, code: 'permission_denied' });
  });

  it.each(['/v1/mcp-servers', '/.well-known/jwks.json', '/health/live'])(
    'refuses a malformed tracing header with the common error body at %s',
    async (path) => {
      for (const [param, header] of BROKEN) {
        const answer = await mcp.call(path, '', { ...header, 'x-gateway-api-key': 'nobody' }, 'GET');
        expect([answer.status, jsonOf(answer)]).toMatchObject([400, { error: { code: 'validation_failed', param } }]);
      }
    },
  );
});

describe('a method that an address does not allow', () => {
  it.each([
    ['mcp', ['PUT', 'PATCH', 'PROPFIND'], 'GET, POST, DELETE, OPTIONS'],
    ['sse', ['POST', 'PUT', 'DELETE'], 'GET, OPTIONS'],
    ['messages', ['GET', 'PUT', 'DELETE'], 'POST, OPTIONS'],
  ])('returns 405 as JSON-RPC with CORS headers: /%s', async (endpoint, methods, allow) => {
    const slug = await mcp.register({ allowed_origins: [PAGE] });
    for (const method of methods) {
      const answer = await mcp.call(`/${slug}/${endpoint}`, '', { origin: PAGE }, method);
      expect(refusalOf(answer)).toMatchObject({ status: 405, jsonrpc: '2.0', id: null, code: 'method_not_allowed' });
      expect(answer.headers).toMatchObject({ allow, 'access-control-allow-origin': PAGE });
    }
    expect((await mcp.call(`/${slug}/${endpoint}`, '', { origin: PAGE }, 'OPTIONS')).headers).toMatchObject({ allow });
    expect(mcp.raw.received).toEqual([]);
  });

  it("returns no JSON-RPC for the gateway's own addresses", async () => {
    for (const [path, method] of [
      ['/v1/mcp', 'PUT'],
      ['/v1/mcp', 'POST'],
      ['/v1/x/messages', 'POST'],
      ['/v1/x/mcp', 'GET'],
    ] as const) {
      const answer = await mcp.call(path, '', {}, method);
      expect([path, answer.status, jsonOf(answer)]).toEqual([
        path,
        404,
        { error: expect.objectContaining({ type: 'not_found_error', code: 'not_found' }) },
      ]);
    }
  });
});

describe('a refusal of a message that was read', () => {
  /** Headers that contradict a ping. */
  const OTHER = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };

  it.each([7, 0, 'seven', ''])('returns the request id in the refusal: %j', async (id) => {
    const slug = await mcp.register();
    const answer = await mcp.call(`/${slug}/mcp`, { ...PING, id }, OTHER);
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', id });
    mcp.raw.answerWith(plain(302));
    expect(refusalOf(await mcp.call(`/${slug}/mcp`, { ...PING, id }))).toMatchObject({ status: 502, id });
  });

  it('returns the request id when the identity cannot be forwarded', async () => {
    const slug = await mcp.register();
    // As it was registered while the gateway had a signing key.
    await mcp.gateway.dataSource
      .getRepository(McpServer)
      .update({ slug }, { userIdentityForwarding: { method: 'jwt_header' } });
    const answer = await mcp.call(`/${slug}/mcp`, PING);
    expect(refusalOf(answer)).toMatchObject({ status: 502, code: 'identity_forwarding_failed', id: 7 });
  });

  describe('when the server returns 431', () => {
    const FORWARDING = { user_identity_forwarding: { method: 'claims_header' } };

    it.each(['POST', 'GET', 'DELETE'])('says that the identity could not be forwarded by %s', async (method) => {
      const slug = await mcp.register(FORWARDING);
      mcp.raw.answerWith(plain(431));
      const answer = await mcp.call(`/${slug}/mcp`, method === 'POST' ? PING : '', {}, method);
      expect(refusalOf(answer)).toMatchObject({ status: 502, code: 'identity_forwarding_failed' });
    });

    it('says in the test of the server what to do', async () => {
      const slug = await mcp.register(FORWARDING);
      mcp.raw.answerWith(plain(431));
      const hint = expect.stringContaining('name fewer claims in include_claims');
      const failed = { ok: false, error: 'identity_forwarding_failed', hint };
      expect(jsonOf(await mcp.admin.post(`/v1/mcp-servers/${slug}/test`))).toMatchObject(failed);
    });

    it.each<readonly [string, object, Readonly<Record<string, string>>]>([
      ['no identity was sent', {}, {}],
      [
        "the client's own header is longer",
        { ...FORWARDING, forward_headers: { mode: 'all-except', headers: [] } },
        { 'x-filter': 'x'.repeat(500) },
      ],
    ])('forwards the status where %s', async (_what, fields, headers) => {
      const slug = await mcp.register(fields);
      mcp.raw.answerWith(plain(431));
      expect(await mcp.call(`/${slug}/mcp`, PING, headers)).toMatchObject({ status: 431, text: '' });
    });
  });

  it('returns the request id on the SSE transport', async () => {
    const slug = await mcp.register({ transport: 'sse' });
    await mcp.admin.put(`/v1/mcp-servers/${slug}/tools`, { tools: [{ name: 'off', enabled: false }] });
    mcp.raw.answerWith(events(['event: endpoint\ndata: /messages\n\n']));
    const stream = await mcp.call(`/${slug}/sse`, '', {}, 'GET');
    const call = { jsonrpc: '2.0', id: 8, method: 'tools/call', params: { name: 'off' } };
    const answer = await mcp.call(/data: (\S+)/.exec(stream.text)?.[1] ?? '', call);
    expect(refusalOf(answer)).toMatchObject({ status: 403, code: 'permission_denied', id: 8 });
  });

  it.each<readonly [string, object]>([
    ['a batch', [PING]],
    ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }],
    ['an answer, whose id is of a request of the server', { jsonrpc: '2.0', id: 7, result: {} }],
  ])('returns a null id in the refusal of %s', async (_what, body) => {
    const slug = await mcp.register();
    expect(refusalOf(await mcp.call(`/${slug}/mcp`, body, OTHER))).toMatchObject({ status: 400, id: null });
    mcp.raw.answerWith(plain(302));
    expect(refusalOf(await mcp.call(`/${slug}/mcp`, body))).toMatchObject({ status: 502, id: null });
  });

  it.each(['{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}', '{"id":7'])(
    'returns a null id when the body has no readable id: %s',
    async (body) => {
      const slug = await mcp.register();
      expect(refusalOf(await mcp.call(`/${slug}/mcp`, body))).toMatchObject({ status: 400, id: null });
    },
  );
});

describe('a body in another form than plain JSON', () => {
  it.each([
    [{ 'content-encoding': 'gzip' }, COMPRESSED],
    [{ 'content-type': 'application/json; charset=latin1' }, 'The request body must be in UTF-8.'],
    [{ 'content-type': 'text/plain' }, 'The request body must be JSON (content-type: application/json).'],
  ])('refuses a body that is not plain JSON, with the reason: %j', async (headers, message) => {
    const slug = await mcp.register();
    const answer = await mcp.call(`/${slug}/mcp`, PING, headers);
    expect(refusalOf(answer)).toMatchObject({ status: 415, code: 'unsupported_media_type', message });
    expect(mcp.raw.received).toEqual([]);
  });

  it('refuses a compressed body with the message of all JSON routes', async () => {
    const answer = await mcp.admin.post('/v1/mcp-servers', {}, { 'content-encoding': 'gzip' });
    expect(jsonOf(answer)).toMatchObject({ error: { message: COMPRESSED } });
  });
});

describe('a head of very many lines', () => {
  const CALL = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'search' } };
  const MODERN = 'mcp-protocol-version: 2026-07-28';

  /** The first line of the answer to a message whose last header lines are `last`. */
  async function statusOf(slug: string, fillers: number, body: object, ...last: readonly string[]): Promise<string> {
    const text = JSON.stringify(body);
    const { host, port } = new URL(mcp.gateway.url);
    const head = [
      `POST /${slug}/mcp HTTP/1.1`,
      `host: ${host}`,
      'connection: close',
      `x-gateway-api-key: ${ADMIN_KEY}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(text)}`,
      MODERN,
      ...Array<string>(fillers).fill('a:b'),
      ...last,
    ];
    const answer = await rawExchange(Number(port), `${head.join('\r\n')}\r\n\r\n${text}`);
    return answer.slice(0, answer.indexOf('\r\n'));
  }

  // By default, Node keeps about a thousand lines in its object of headers, and a few more in its list of raw headers.
  it.each([0, 1_000, 2_100])('checks all header lines, with %i before the relevant one', async (fillers) => {
    const slug = await mcp.register();
    const named = ['mcp-method: tools/call', 'mcp-name: search'];
    expect(await statusOf(slug, fillers, CALL, ...named)).toBe('HTTP/1.1 200 OK');
    mcp.raw.forget();
    expect(await statusOf(slug, fillers, CALL, 'mcp-method: tools/call', 'mcp-name: other')).toMatch(/ 400 /);
    expect(await statusOf(slug, fillers, CALL, 'mcp-method: ping', 'mcp-name: search')).toMatch(/ 400 /);
    expect(await statusOf(slug, fillers, CALL, ...named, 'content-encoding: gzip')).toMatch(/ 415 /);
    expect(await statusOf(slug, fillers, CALL, ...named, 'x-gateway-metadata: {bad')).toMatch(/ 400 /);
    expect(await statusOf(slug, fillers, CALL, ...named, 'origin: https://evil.example.com')).toMatch(/ 403 /);
    expect(mcp.raw.received).toEqual([]);
  });
});

describe('the name of an identity header', () => {
  /** Names that the gateway writes, in answers to clients and in requests to servers. */
  async function writtenNames(): Promise<ReadonlySet<string>> {
    const slug = await mcp.register({ allowed_origins: [PAGE] });
    const path = `/${slug}/mcp`;
    const list = '/v1/mcp-servers';
    const server = { name: 'A server', url: mcp.raw.endpoint.href };
    const repeated = { 'idempotency-key': slug };
    const answers = [
      await mcp.call(path, PING, { origin: PAGE }),
      await mcp.call(path, '', { origin: PAGE }, 'OPTIONS'),
      await mcp.call(path, '', {}, 'PUT'),
      await mcp.call(path, PING, { 'x-gateway-api-key': 'nobody' }),
      await mcp.call(list, server, repeated),
      await mcp.call(list, server, repeated),
      await mcp.call('/v1/rerank', { model: 'local/bm25', query: 'q', documents: ['d'] }),
      await mcp.call('/.well-known/jwks.json', '', {}, 'GET'),
    ];
    const { rawHeaders = [] } = mcp.raw.received[0] ?? {};
    const sent = rawHeaders.filter((_text, index) => index % 2 === 0).map((name) => name.toLowerCase());
    return new Set([...sent, ...answers.flatMap(({ headers }) => Object.keys(headers))]);
  }

  it('is none that the gateway writes itself', async () => {
    const names = [...(await writtenNames())];
    expect(names).toEqual(expect.arrayContaining(['x-request-id', 'www-authenticate', 'allow', 'x-gateway-trace-id']));
    await forEvery(
      names.map((name) => [name, name] as const),
      async (header_name) => {
        const user_identity_forwarding = { method: 'claims_header', header_name };
        const body = { name: 'A server', url: mcp.raw.endpoint.href, user_identity_forwarding };
        const answer = await mcp.call('/v1/mcp-servers', body);
        expect([answer.status, jsonOf(answer)['error']]).toMatchObject([
          400,
          { param: 'user_identity_forwarding.header_name' },
        ]);
      },
    );
  });
});
