import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect } from 'node:net';
import { jsonOf, send, type Answer } from '../../../test/support/send.js';
import { toRawHeaders } from '../../identity/headers/raw-headers.js';
import { startHttp, type Loopback } from '../../upstream/__fixtures__/loopback.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { sendRpcError } from '../mcp-error.js';
import { checkEdge } from './mcp-edge.js';
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
    try {
      checkEdge({ request, headers: toRawHeaders(request.rawHeaders) }, response, edge);
      if (request.method === 'OPTIONS') response.writeHead(204).end();
      else response.writeHead(401, { 'www-authenticate': 'Bearer' }).end('handled');
    } catch (error) {
      if (error instanceof GatewayError) sendRpcError(response, error);
      else response.destroy();
    }
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

describe('checkEdge: Host', () => {
  it.each(['mcp.example.com', 'MCP.Example.COM', 'mcp.example.com:443', 'localhost:8787'])(
    'accepts the host %s',
    async (host) => {
      expect((await ask({ host })).text).toBe('handled');
    },
  );

  it.each(['evil.example.com', 'mcp.example.com:8787', 'localhost', 'mcp.example.com.evil.example', ''])(
    'refuses the host %j',
    async (host) => {
      const answer = await ask({ host, 'x-forwarded-host': 'mcp.example.com' });
      expect(answer.status).toBe(403);
      expect(jsonOf(answer)).toMatchObject({ jsonrpc: '2.0', error: { data: { code: 'permission_denied' } } });
    },
  );

  it('names MCP_PUBLIC_URL when it refuses a host, for example behind a mapped port', async () => {
    const answer = await ask({ host: 'localhost:9999' });
    expect(answer.status).toBe(403);
    expect(jsonOf(answer)).toMatchObject({ error: { message: expect.stringContaining('MCP_PUBLIC_URL') } });
  });

  it('refuses a request with two Host headers', async () => {
    const answer = await askRaw(['Host: mcp.example.com', 'Host: evil.example.com']);
    expect(answer).toMatch(/^HTTP\/1\.1 40[03] /);
  });

  it('accepts the local names when no public URL is configured', () => {
    const { hosts, origins } = publicHosts([], 9000);
    expect([...hosts]).toEqual(['localhost:9000', '127.0.0.1:9000', '[::1]:9000']);
    expect(origins.has('http://localhost:9000')).toBe(true);
  });
});

describe('checkEdge: Origin', () => {
  it('accepts a request without an origin and sends no CORS headers', async () => {
    const answer = await ask({});
    expect(answer).toMatchObject({ status: 401, text: 'handled', headers: { vary: 'Origin' } });
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it.each([PAGE, 'https://mcp.example.com', 'http://localhost:8787'])(
    'accepts the origin %s and lets the page read errors',
    async (origin) => {
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
    },
  );

  it.each(['null', 'https://evil.example.com', 'http://app.example.com', `${PAGE}.evil.example`, `${PAGE}/`, ''])(
    'refuses the origin %j',
    async (origin) => {
      const answer = await ask({ origin });
      expect(answer.status).toBe(403);
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    },
  );

  it('refuses a request with two Origin headers, even equal ones', async () => {
    const answer = await askRaw(['Host: mcp.example.com', `Origin: ${PAGE}`, `Origin: ${PAGE}`]);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  });
});

describe('checkEdge: OPTIONS', () => {
  it('answers a preflight without credentials', async () => {
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

  it('refuses the preflight of a foreign page', async () => {
    const answer = await ask({ origin: 'https://evil.example', 'access-control-request-method': 'POST' }, 'OPTIONS');
    expect(answer.status).toBe(403);
    expect(answer.headers).not.toHaveProperty('access-control-allow-methods');
  });

  it('answers OPTIONS without an origin with the methods', async () => {
    expect(await ask({}, 'OPTIONS')).toMatchObject({ status: 204, headers: { allow: 'GET, POST, DELETE, OPTIONS' } });
  });
});
