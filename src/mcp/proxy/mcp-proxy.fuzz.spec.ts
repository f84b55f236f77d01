import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { startRawMcpServer, type RawMcpServer } from '../../../test/support/mcp-raw-server.js';
import { startTcp, type Loopback } from '../../upstream/__fixtures__/loopback.js';
import { headersFor, startProxying, targetAt, type ProxyingServer } from './__fixtures__/proxying.js';

const ALLOWED = new Set([
  'accept',
  'accept-encoding',
  'content-type',
  'content-encoding',
  'content-length',
  'transfer-encoding',
  'mcp-session-id',
  'mcp-protocol-version',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-param-a',
  'host',
  'connection',
  'x-user-claims',
]);
/** Parameters of the server are forwarded under any name that is not empty. */
const PARAMETER = /^mcp-param-./;
const BODY = '{"id":1}';

/** Writes the bytes and reads until the connection closes, or until 300 ms without a byte. */
function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from(bytes, 'latin1')));
    socket.setTimeout(300, () => socket.destroy());
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.on('error', () => undefined).on('close', () => resolve(text));
  });
}

const token = fc.constantFrom(
  'X-User-Claims',
  'x_user_claims',
  'X.User.Claims',
  'X-User-JWT',
  'Mcp-Session-Id',
  'mcp-param-a',
  'Cookie',
  'Connection',
  'Transfer-Encoding',
  'Content-Length',
  'Content-Type',
  'Host',
  'Upgrade',
  'TE',
  'Expect',
  'Trailer',
  'Last-Event-ID',
  'Mcp-Name',
  'Authorization',
  ':method',
  'Proxy-Authorization',
  'Accept',
  'x y',
  '',
);
const value = fc.oneof(
  fc.constantFrom('X-User-Claims', 'close, x-user-claims', 'chunked', '5', '8', 'a\r\n X-User-Claims: b', 'a\nb: c'),
  fc.constantFrom(
    '100-continue',
    'websocket',
    '\u00ff\u00e9',
    '\0',
    'a\rb',
    '  padded\t',
    'keep-alive, Mcp-Session-Id',
  ),
  fc.string({ maxLength: 12 }).map((text) => text.replaceAll(/[^\x20-\xff]/g, '?')),
);
const headerLines = fc.array(fc.tuple(token, fc.constantFrom(':', ': ', ' : ', ':\t', ''), value), { maxLength: 6 });

describe('a request of any headers', () => {
  let server: RawMcpServer;
  let gateway: ProxyingServer;

  beforeAll(async () => {
    server = await startRawMcpServer();
    gateway = await startProxying(targetAt(server.endpoint), {
      change: (request) => ({ headers: headersFor(request, { identityHeaders: { 'x-user-claims': 'ours' } }) }),
    });
  });
  afterAll(async () => {
    await gateway.close();
    await server.close();
  });

  it.each(['POST', 'GET', 'DELETE'])(
    'forwards a %s request with any headers as the gateway wrote it, or not at all',
    async (method) => {
      const length = method === 'POST' ? `Content-Length: ${BODY.length}\r\n` : '';
      const body = method === 'POST' ? BODY : '';
      let reached = 0;
      await fc.assert(
        fc.asyncProperty(headerLines, async (lines) => {
          server.forget();
          const head = lines.map((line) => `${line.join('')}\r\n`).join('');
          const answer = await exchange(
            gateway.port,
            `${method} /mcp HTTP/1.1\r\nHost: a\r\n${length}${head}Connection: close\r\n\r\n${body}`,
          );
          expect(answer).toMatch(/^(HTTP\/1\.1 [1245]\d\d |$)/);
          expect(server.received.length).toBeLessThan(2);
          reached += server.received.length;
          for (const { rawHeaders, method: received } of server.received) {
            expect(received).toBe(method);
            const names = rawHeaders.filter((_text, index) => index % 2 === 0).map((name) => name.toLowerCase());
            expect(names.filter((name) => !ALLOWED.has(name) && !PARAMETER.test(name))).toEqual([]);
            const claims = names.flatMap((name, index) =>
              name === 'x-user-claims' ? [rawHeaders[index * 2 + 1]] : [],
            );
            expect(claims).toEqual(['ours']);
          }
        }),
        // Valid requests, so that some reach the server.
        { numRuns: 150, examples: [[[['Accept', ': ', 'a']]], [[['mcp-param-a', '', '_:']]]] },
      );
      expect(reached).toBeGreaterThan(0);
    },
  );
});

describe('an answer of any bytes', () => {
  let answer = '';
  let server: Loopback;
  let gateway: ProxyingServer;

  beforeAll(async () => {
    server = await startTcp((socket) => socket.end(Buffer.from(answer, 'latin1')));
    gateway = await startProxying(targetAt(server.url('/mcp'), { timeouts: { firstByteMs: 200 } }));
  });
  afterAll(async () => {
    await gateway.close();
    await server.close();
  });

  it.each(['POST', 'GET'])('turns any bytes of a server into one answer to %s at most', async (method) => {
    const statuses = fc.constantFrom(
      '200 OK',
      '202 X',
      '101 Switching',
      '103 Hints',
      '204 No',
      '304 Not',
      '999 Z',
      'abc',
    );
    const bodies = fc.constantFrom('', 'data: 1\n\n', '5\r\nhello\r\n0\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\n', 'zz\r\n');
    const names = fc.constantFrom(
      'Content-Length',
      'Transfer-Encoding',
      'Mcp-Session-Id',
      'Content-Type',
      'Connection',
      'Set-Cookie',
      'Trailer',
    );
    const lines = fc.array(fc.tuple(names, fc.constantFrom(': ', ':', ' :'), value), { maxLength: 4 });
    let passed = 0;
    await fc.assert(
      fc.asyncProperty(statuses, lines, bodies, async (status, headers, body) => {
        const head = headers.map((line) => `${line.join('')}\r\n`).join('');
        answer = `HTTP/1.1 ${status}\r\n${head}\r\n${body}`;
        const length = method === 'POST' ? `Content-Length: ${BODY.length}\r\n\r\n${BODY}` : '\r\n';
        const got = await exchange(
          gateway.port,
          `${method} /mcp HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${length}`,
        );
        expect(got).toMatch(/^(HTTP\/1\.1 [2-9]\d\d |$)/);
        const [ownHead = ''] = got.split('\r\n\r\n', 1);
        expect(ownHead).not.toMatch(/set-cookie|trailer/i);
        expect(ownHead.match(/^HTTP\//gm)?.length ?? 0).toBeLessThan(2);
        if (got.startsWith('HTTP/1.1 2')) passed += 1;
      }),
      // A valid answer, so that at least one is forwarded.
      { numRuns: 150, examples: [['200 OK', [], '']] },
    );
    expect(passed).toBeGreaterThan(0);
    expect(gateway.outcomes.filter(({ error }) => error?.code === 'internal_error')).toEqual([]);
  });
});
