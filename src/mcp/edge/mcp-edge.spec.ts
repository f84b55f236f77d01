import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect } from 'node:net';
import { jsonOf, send, type Answer } from '../../../test/support/send.js';
import { toRawHeaders } from '../../identity/headers/raw-headers.js';
import { startHttp, type Loopback } from '../../upstream/__fixtures__/loopback.js';
import { passEdge } from './mcp-edge.js';
import { publicHosts } from './public-hosts.js';

const HOSTS = publicHosts(['https://mcp.example.com', 'http://localhost:8787'], 8787);
const PAGE = 'https://app.example.com';

let server: Loopback;

beforeAll(async () => {
  server = await startHttp((request, response) => {
    const edge = {
      publicHosts: HOSTS,
      allowedOrigins: [PAGE],
      tokenHeader: 'x-id-token',
      methods: ['GET', 'POST', 'DELETE'],
    };
    const headers = toRawHeaders(request.rawHeaders);
    if (passEdge({ request, headers }, response, edge))
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end('handled');
  });
});
afterAll(() => server.close());

function ask(headers: Readonly<Record<string, string>>, method = 'POST'): Promise<Answer> {
  return send(server.url('/s/mcp').href, { method, headers: { host: 'mcp.example.com', ...headers } });
}

/** For requests that no client would make. */
function askRaw(lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(server.port, '127.0.0.1', () => {
      socket.write(`POST /mcp HTTP/1.1\r\n${lines.join('\r\n')}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    });
    socket
      .on('data', (chunk) => (text += chunk.toString()))
      .on('error', reject)
      .on('close', () => resolve(text));
  });
}

describe('passEdge: the host', () => {
  it.each(['mcp.example.com', 'MCP.Example.COM', 'mcp.example.com:443', 'localhost:8787'])('takes %s', async (host) => {
    expect((await ask({ host })).text).toBe('handled');
  });

  it.each(['evil.example.com', 'mcp.example.com:8787', 'localhost', 'mcp.example.com.evil.example', ''])(
    'refuses %j',
    async (host) => {
      const answer = await ask({ host, 'x-forwarded-host': 'mcp.example.com' });
      expect(answer.status).toBe(403);
      expect(jsonOf(answer)).toMatchObject({ jsonrpc: '2.0', error: { data: { code: 'permission_denied' } } });
    },
  );

  it('names the setting that mends it, as for a port that is mapped to another one', async () => {
    const answer = await ask({ host: 'localhost:9999' });
    expect(answer.status).toBe(403);
    expect(jsonOf(answer)).toMatchObject({ error: { message: expect.stringContaining('MCP_PUBLIC_URL') } });
  });

  it('refuses two of them', async () => {
    const answer = await askRaw(['Host: mcp.example.com', 'Host: evil.example.com']);
    expect(answer).toMatch(/^HTTP\/1\.1 40[03] /);
  });

  it('knows the local names where no public address is configured', () => {
    const { hosts, origins } = publicHosts([], 9000);
    expect([...hosts]).toEqual(['localhost:9000', '127.0.0.1:9000', '[::1]:9000']);
    expect(origins.has('http://localhost:9000')).toBe(true);
  });
});

describe('passEdge: the origin', () => {
  it('is not needed', async () => {
    const answer = await ask({});
    expect(answer).toMatchObject({ status: 401, text: 'handled', headers: { vary: 'Origin' } });
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it.each([PAGE, 'https://mcp.example.com', 'http://localhost:8787'])('takes %s, errors readable', async (origin) => {
    expect(await ask({ origin })).toMatchObject({
      status: 401,
      text: 'handled',
      headers: {
        'access-control-allow-origin': origin,
        'access-control-expose-headers':
          'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After, x-gateway-trace-id',
        vary: 'Origin',
      },
    });
  });

  it.each(['null', 'https://evil.example.com', 'http://app.example.com', `${PAGE}.evil.example`, `${PAGE}/`, ''])(
    'refuses %j',
    async (origin) => {
      const answer = await ask({ origin });
      expect(answer.status).toBe(403);
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    },
  );

  it('refuses two of them, even equal ones', async () => {
    const answer = await askRaw(['Host: mcp.example.com', `Origin: ${PAGE}`, `Origin: ${PAGE}`]);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  });
});

describe('passEdge: OPTIONS', () => {
  it('is answered without credentials', async () => {
    const answer = await ask(
      {
        origin: PAGE,
        'access-control-request-method': 'POST',
        'access-control-request-headers':
          'authorization, Mcp-Param-Region, X-Portkey-API-Key, x-gateway-metadata, x-other, x-gateway-, mcp-param-\u00e9',
      },
      'OPTIONS',
    );
    expect(answer).toMatchObject({
      status: 204,
      text: '',
      headers: {
        'access-control-allow-origin': PAGE,
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-allow-headers':
          'content-type, accept, authorization, x-gateway-api-key, mcp-session-id, mcp-protocol-version, last-event-id, mcp-method, mcp-name, x-id-token, mcp-param-region, x-portkey-api-key, x-gateway-metadata',
        'access-control-max-age': '600',
        vary: 'Origin, Access-Control-Request-Headers',
      },
    });
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
  });

  it('of a foreign page is refused', async () => {
    const answer = await ask({ origin: 'https://evil.example', 'access-control-request-method': 'POST' }, 'OPTIONS');
    expect(answer.status).toBe(403);
    expect(answer.headers).not.toHaveProperty('access-control-allow-methods');
  });

  it('without an origin tells the methods', async () => {
    expect(await ask({}, 'OPTIONS')).toMatchObject({ status: 204, headers: { allow: 'GET, POST, DELETE, OPTIONS' } });
  });
});
