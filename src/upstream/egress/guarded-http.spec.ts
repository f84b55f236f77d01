import { Agent } from 'node:https';
import { afterEach, describe, expect, it } from '@jest/globals';
import { HttpService } from '@nestjs/axios';
import axios, { type AxiosInstance, isCancel } from 'axios';
import { failureOf, loopbackPolicy, until } from '../__fixtures__/calls.js';
import { selfSignedCertificate } from '../__fixtures__/certificate.js';
import { type Loopback, startHttp, startHttps } from '../__fixtures__/loopback.js';
import { EgressPolicy } from './egress-policy.js';
import { guardedHttp, type GuardedHttpLimits, headOf } from './guarded-http.js';
import { loneSender } from './lone-sender.js';

const LIMITS: GuardedHttpLimits = { timeoutMs: 2_000, maxRequestBytes: 1_000, maxResponseBytes: 1_000 };
const servers: Loopback[] = [];
const http = httpWith(loopbackPolicy());

function httpWith(policy: EgressPolicy, limits: Partial<GuardedHttpLimits> = {}): AxiosInstance {
  return axios.create(guardedHttp(loneSender(policy, 1_000), { ...LIMITS, ...limits }));
}

async function serve(starting: Promise<Loopback>): Promise<Loopback> {
  const server = await starting;
  servers.push(server);
  return server;
}

afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

describe('guardedHttp', () => {
  it('returns status, headers and bytes, whatever the status is', async () => {
    const server = await serve(
      startHttp((_request, response) => {
        response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '7', 'x-many': ['a', 'b'] });
        response.end('{"a":1}');
      }),
    );
    const answer = await http.get<Buffer>(server.url('/').href);
    expect(answer.data).toEqual(Buffer.from('{"a":1}'));
    expect(headOf(answer)).toMatchObject({ status: 503, headers: { 'retry-after': '7', 'x-many': ['a', 'b'] } });
  });

  it('sends method, query, headers and body, and no header of its own', async () => {
    const bodies: string[] = [];
    const server = await serve(
      startHttp((request, response) => {
        let body = '';
        request.on('data', (chunk: Buffer) => (body += chunk.toString()));
        request.on('end', () => {
          bodies.push(body);
          response.end();
        });
      }),
    );
    await http.put(server.url('/a?b=c').href, { d: 'é' }, { params: { e: 'f g' }, headers: { 'X-One': '1' } });
    await http.post(server.url('/').href, Buffer.from([0x7b, 0x7d]), { headers: { 'content-type': 'text/x' } });
    await http.post(server.url('/').href);
    expect(server.requests.map(({ method, url, headers }) => [method, url, headers['content-type']])).toEqual([
      ['PUT', '/a?b=c&e=f+g', 'application/json'],
      ['POST', '/', 'text/x'],
      ['POST', '/', undefined],
    ]);
    expect(bodies).toEqual(['{"d":"é"}', '{}', '']);
    expect(server.requests[0]?.headers['x-one']).toBe('1');
    expect(Object.keys(server.requests[2]?.headers ?? {}).sort()).toEqual([
      'accept-encoding',
      'connection',
      'content-length',
      'host',
    ]);
  });

  it.each([
    'https://10.0.0.1/',
    'https://metadata.google.internal/',
    'http://api.example.com/',
    'https://user:hunter2@api.example.com/',
  ])('applies the egress rules to a request: %s', async (url) => {
    const failure = await failureOf(http.get(url));
    expect(failure.kind).toBe('refused_by_egress');
    expect(failure.message).not.toContain('hunter2');
  });

  it('connects only to the address that it checked', async () => {
    const server = await serve(startHttp((_request, response) => response.end()));
    const answers = ['127.0.0.1', '10.0.0.1'];
    const policy = new EgressPolicy([`vault.test:${server.port}`, '127.0.0.1'], () =>
      Promise.resolve([{ address: answers.shift() ?? '', family: 4 }]),
    );
    const url = `http://vault.test:${server.port}/`;
    expect((await httpWith(policy).get(url)).status).toBe(200);
    const rebound = new EgressPolicy([], () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]));
    const failure = await failureOf(httpWith(rebound).get(`https://vault.test:${server.port}/`));
    expect([failure.kind, server.connections]).toEqual(['refused_by_egress', 1]);
  });

  it('ignores a proxy of the environment', async () => {
    const [proxy, server] = await Promise.all([
      serve(startHttp((_request, response) => response.end('proxy'))),
      serve(startHttp((_request, response) => response.end('server'))),
    ]);
    process.env['http_proxy'] = proxy.origin;
    try {
      expect(String((await http.get<Buffer>(server.url('/').href)).data)).toBe('server');
    } finally {
      delete process.env['http_proxy'];
    }
    expect(proxy.connections).toBe(0);
  });

  it('fails on a redirect, a too large answer and a late one', async () => {
    const server = await serve(
      startHttp((request, response) => {
        if (request.url === '/redirect') response.writeHead(302, { location: '/' }).end();
        if (request.url === '/large') response.end('x'.repeat(11));
      }),
    );
    const bounded = httpWith(loopbackPolicy(), { timeoutMs: 250, maxResponseBytes: 10 });
    expect((await failureOf(bounded.get(server.url('/redirect').href, { maxRedirects: 5 }))).kind).toBe('redirect');
    expect((await failureOf(bounded.get(server.url('/large').href))).kind).toBe('too_large');
    expect((await failureOf(bounded.get(server.url('/late').href))).kind).toBe('timeout');
    expect(server.requests).toHaveLength(3);
  });

  it('lets a request shorten its bounds, and not extend them', async () => {
    const server = await serve(startHttp((_request, response) => response.end('x'.repeat(11))));
    const url = server.url('/').href;
    const bounded = httpWith(loopbackPolicy(), { maxResponseBytes: 10 });
    expect((await failureOf(http.get(url, { maxContentLength: 10 }))).kind).toBe('too_large');
    expect((await failureOf(bounded.get(url, { maxContentLength: 100 }))).kind).toBe('too_large');
    expect((await failureOf(bounded.get(url, { maxContentLength: -1 }))).kind).toBe('too_large');
  });

  it('sends no request that is too large or unreadable', async () => {
    const server = await serve(startHttp((_request, response) => response.end()));
    const url = server.url('/').href;
    await expect(http.post(url, 'x'.repeat(1_001))).rejects.toThrow(RangeError);
    await expect(http.head(url)).rejects.toThrow(TypeError);
    expect(server.connections).toBe(0);
  });

  it('ends with its signal, or with its subscriber, and closes the connection', async () => {
    const server = await serve(startHttp(() => undefined));
    const abort = new AbortController();
    const running = http.get(server.url('/').href, { signal: abort.signal }).catch((error: unknown) => error);
    await until(() => server.requests.length === 1);
    abort.abort();
    expect(isCancel(await running)).toBe(true);
    const subscription = new HttpService(http).get(server.url('/').href).subscribe({ error: () => undefined });
    await until(() => server.requests.length === 2);
    subscription.unsubscribe();
    await until(() => server.open.size === 0);
  });

  it('trusts the certificates of an agent, for its request alone', async () => {
    const certificate = selfSignedCertificate('localhost');
    const server = await serve(startHttps(certificate, (_request, response) => response.end()));
    const url = `https://localhost:${server.port}/`;
    const httpsAgent = new Agent({ ca: certificate.cert });
    expect((await http.get(url, { httpsAgent })).status).toBe(200);
    expect((await failureOf(http.get(url))).kind).toBe('connect');
  });
});
