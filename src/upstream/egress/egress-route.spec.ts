import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { complaintAbout, namedIn } from '../../config/__fixtures__/complaints.js';
import { callTo, failureOf } from '../__fixtures__/calls.js';
import { selfSignedCertificate } from '../__fixtures__/certificate.js';
import { closedPort, startHttps, type Loopback } from '../__fixtures__/loopback.js';
import { UpstreamClient } from '../upstream-client.js';
import { EgressPolicy } from './egress-policy.js';
import { EgressRoute, type RouteSettings } from './egress-route.js';
import { guardedStreamFetch } from './guarded-stream-fetch.js';
import { loneSender } from './lone-sender.js';

const HOST = 'provider.test';
const certificate = selfSignedCertificate(HOST);
const PROXY_HOST = 'localhost';
const proxyCertificate = selfSignedCertificate(PROXY_HOST);

let folder: string;
let caFile: string;
let upstream: Loopback;
const looked: string[] = [];
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-egress-'));
  caFile = join(folder, 'authorities.pem');
  writeFileSync(caFile, `# our authorities\n${certificate.cert}\n${proxyCertificate.cert}`);
  upstream = await startHttps(certificate, (request, response) => response.end(`${request.method} ${request.url}`));
});
afterAll(async () => {
  await upstream.close();
  rmSync(folder, { recursive: true });
});
afterEach(async () => {
  looked.length = 0;
  await Promise.all(closers.splice(0).map((close) => close()));
});

interface Proxy {
  readonly origin: string;
  /** The heads of the tunnels that were asked for. */
  readonly asked: IncomingMessage[];
}

/** A proxy that connects every name to this machine; `refuse` answers instead of it. */
async function startProxy(refuse?: (socket: Socket) => void, isSecure = false): Promise<Proxy> {
  const asked: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  const server: Server = isSecure
    ? createSecureServer({ key: proxyCertificate.key, cert: proxyCertificate.cert })
    : createServer();
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    asked.push(request);
    client.on('error', () => undefined);
    if (refuse !== undefined) return refuse(client);
    const target = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(target).pipe(client);
    });
    target.on('error', () => client.destroy());
  });
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = Object(server.address());
  return { origin: isSecure ? `https://${PROXY_HOST}:${port}` : `http://127.0.0.1:${port}`, asked };
}

function policyWith(settings: Partial<RouteSettings>, allow: readonly string[] = []): EgressPolicy {
  const resolve = (hostname: string) => {
    looked.push(hostname);
    return Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
  };
  return new EgressPolicy(
    allow,
    resolve,
    new EgressRoute({ EGRESS_NO_PROXY: [], EGRESS_CA_FILE: caFile, ...settings }),
  );
}

function clientWith(settings: Partial<RouteSettings>, allow?: readonly string[]): UpstreamClient {
  const options = { connectionsPerOrigin: 4, connectTimeoutMs: 10_000 };
  const client = new UpstreamClient(policyWith(settings, allow), options);
  closers.push(() => client.close());
  return client;
}

function target(host = HOST): URL {
  return new URL(`https://${host}:${upstream.port}/v1`);
}

describe('outgoing calls through a proxy', () => {
  it('are tunnelled to the host by its name, which only the proxy resolves', async () => {
    const proxy = await startProxy();
    const client = clientWith({ EGRESS_PROXY: proxy.origin });
    for (let time = 0; time < 5; time += 1) {
      expect((await client.send(callTo(target()))).body.toString()).toBe('GET /v1');
    }
    const asked = new Set(proxy.asked.map(({ method, url }) => `${method} ${url}`));
    expect(asked).toEqual(new Set([`CONNECT ${HOST}:${upstream.port}`]));
    // Tunnels are kept for the next call.
    expect(proxy.asked.length).toBeLessThan(5);
    expect(proxy.asked[0]?.headers['proxy-authorization']).toBeUndefined();
    expect(looked).toEqual([]);
  });

  it('carry the credentials of the setting to the proxy, and not to the host', async () => {
    const proxy = await startProxy();
    const client = clientWith({ EGRESS_PROXY: proxy.origin.replace('http://', 'http://me:p%40ss@') });
    await client.send(callTo(target()));
    const encoded = Buffer.from('me:p@ss').toString('base64');
    expect(proxy.asked[0]?.headers['proxy-authorization']).toBe(`Basic ${encoded}`);
    expect(upstream.requests.at(-1)?.headers).not.toHaveProperty('proxy-authorization');
  });

  it('go out from every sender: pools, single connections and event streams', async () => {
    const proxy = await startProxy();
    const policy = policyWith({ EGRESS_PROXY: proxy.origin });
    expect((await loneSender(policy, 1_000)(callTo(target()))).status).toBe(200);
    const network = guardedStreamFetch(policy, { connectTimeoutMs: 10_000, maxResponseBytes: 1_000 });
    expect(await (await network.fetch(target())).text()).toBe('GET /v1');
    await network.close();
    expect(proxy.asked).toHaveLength(2);
  });

  it('use the tunnel of any 2xx answer', async () => {
    const proxy = await startProxy((client) => {
      const target = connect(upstream.port, '127.0.0.1', () => {
        client.write('HTTP/1.1 204 Connected\r\n\r\n');
        client.pipe(target).pipe(client);
      });
    });
    expect((await clientWith({ EGRESS_PROXY: proxy.origin }).send(callTo(target()))).status).toBe(200);
  });

  it('reach a proxy that speaks TLS itself', async () => {
    const proxy = await startProxy(undefined, true);
    expect((await clientWith({ EGRESS_PROXY: proxy.origin }).send(callTo(target()))).status).toBe(200);
    expect(proxy.asked).toHaveLength(1);
  });

  it('go to plain http through a tunnel as well, where EGRESS_ALLOW names the host', async () => {
    const plain = createServer((_request, response) => response.end('plain'));
    await new Promise<void>((listening) => plain.listen(0, '127.0.0.1', listening));
    closers.push(() => void plain.close());
    const proxy = await startProxy();
    const client = clientWith({ EGRESS_PROXY: proxy.origin }, ['models.test']);
    const url = new URL(`http://models.test:${Object(plain.address()).port}/`);
    expect((await client.send(callTo(url))).body.toString()).toBe('plain');
    expect(proxy.asked).toHaveLength(1);
  });

  it.each(['127.0.0.1', '10.0.0.1', '[::1]', 'localhost', 'metadata.internal', '169.254.169.254'])(
    'are refused by name and by literal address before the proxy is asked: %s',
    async (host) => {
      const proxy = await startProxy();
      const failure = await failureOf(clientWith({ EGRESS_PROXY: proxy.origin }).send(callTo(target(host))));
      expect(failure.kind).toBe('refused_by_egress');
      expect(proxy.asked).toHaveLength(0);
    },
  );
});

describe('a proxy that does not connect', () => {
  it.each<[string, (socket: Socket) => void, string]>([
    ['wants other credentials', (socket) => socket.end('HTTP/1.1 407 Who\r\ncontent-length: 0\r\n\r\n'), 'PROXY_407'],
    ['forbids the host', (socket) => socket.end('HTTP/1.1 403 No\r\ncontent-length: 2\r\n\r\nno'), 'PROXY_403'],
    ['redirects', (socket) => socket.end('HTTP/1.1 302 Away\r\nlocation: /\r\n\r\n'), 'PROXY_302'],
    ['closes the connection', (socket) => socket.destroy(), 'PROXY_UNREACHABLE'],
    ['does not answer', () => undefined, 'PROXY_TIMEOUT'],
  ])('fails the call before anything is sent, and says why: %s', async (_what, refuse, code) => {
    const proxy = await startProxy(refuse);
    const failure = await failureOf(clientWith({ EGRESS_PROXY: proxy.origin }).send(callTo(target())));
    expect(failure).toMatchObject({ kind: 'connect', wasSent: false, message: expect.stringContaining(code) });
  });

  it('fails the call when it is away', async () => {
    const client = clientWith({ EGRESS_PROXY: `http://me:secret@127.0.0.1:${await closedPort()}` });
    const failure = await failureOf(client.send(callTo(target())));
    expect(failure).toMatchObject({ kind: 'connect', message: expect.stringContaining('PROXY_UNREACHABLE') });
    expect(failure.message).not.toContain('secret');
  });
});

describe('EGRESS_NO_PROXY', () => {
  it.each([
    ['provider.test', 'provider.test', true],
    ['test', 'provider.test', true],
    ['.test', 'provider.test', true],
    ['*.test', 'provider.test', true],
    ['.provider.test', 'provider.test', false],
    ['vider.test', 'provider.test', false],
    ['provider.test:8443', 'provider.test', false],
    ['*', 'provider.test', true],
    ['203.0.113.0/24', '203.0.113.9', true],
    ['203.0.113.0/24', '203.0.114.9', false],
    ['2001:db8::/32', '[2001:db8::1]', true],
    ['other.test', 'localhost', true],
    ['other.test', '127.0.0.1', true],
  ])('with %s, %s is called directly: %s', (entry, host, isDirect) => {
    const route = new EgressRoute({ EGRESS_PROXY: 'http://proxy.test:3128', EGRESS_NO_PROXY: [entry] });
    expect(route.proxyTo(host, 443) === undefined).toBe(isDirect);
  });

  it('resolves and checks what is called directly, as without a proxy', async () => {
    const proxy = await startProxy();
    const settings = { EGRESS_PROXY: proxy.origin, EGRESS_NO_PROXY: [HOST] };
    expect((await failureOf(clientWith(settings).send(callTo(target())))).kind).toBe('refused_by_egress');
    expect((await clientWith(settings, [HOST]).send(callTo(target()))).status).toBe(200);
    expect(proxy.asked).toHaveLength(0);
    expect(looked).toEqual([HOST, HOST]);
  });
});

describe('EGRESS_CA_FILE', () => {
  it('adds authorities to the known ones; without it, an unknown certificate is refused', async () => {
    const client = new UpstreamClient(
      new EgressPolicy([HOST], () => Promise.resolve([{ address: '127.0.0.1', family: 4 }])),
      {
        connectionsPerOrigin: 1,
        connectTimeoutMs: 10_000,
      },
    );
    closers.push(() => client.close());
    expect((await failureOf(client.send(callTo(target())))).message).toMatch(/SELF_SIGNED|UNABLE_TO_VERIFY/);
    expect((await loneSender(policyWith({}, [HOST]), 1_000)(callTo(target()))).status).toBe(200);
  });
});

describe('settings of the way out', () => {
  it.each([
    ['EGRESS_PROXY', 'proxy.internal:3128'],
    ['EGRESS_PROXY', 'socks5://proxy.internal'],
    ['EGRESS_PROXY', 'http://proxy.internal/path'],
    ['EGRESS_NO_PROXY', 'http://x'],
    ['EGRESS_CA_FILE', '/nowhere/authorities.pem'],
    ['EGRESS_CA_FILE', '/etc/hostname'],
  ])('names %s when it is %s', (name, value) => {
    expect([...namedIn(complaintAbout({ [name]: value }))]).toEqual([name]);
  });
});
