import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { json } from '../../../test/support/mcp-raw-server.js';
import { send } from '../../../test/support/send.js';
import { selfSignedCertificate } from '../../upstream/__fixtures__/certificate.js';
import { startHttps, type Loopback } from '../../upstream/__fixtures__/loopback.js';
import { startProxying, targetAt, type ProxyingServer } from './__fixtures__/proxying.js';

const certificate = selfSignedCertificate('localhost');

let server: Loopback;
let gateway: ProxyingServer;
let distrustful: ProxyingServer;

beforeAll(async () => {
  server = await startHttps(certificate, json({ ok: true }));
  const target = targetAt(new URL(`https://localhost:${server.port}/mcp`));
  gateway = await startProxying(target, { ca: certificate.cert });
  distrustful = await startProxying(target);
});
afterAll(async () => {
  await Promise.all([gateway.close(), distrustful.close()]);
  await server.close();
});

it.each(['POST', 'GET', 'DELETE'])('reaches a server over TLS (%s)', async (method) => {
  expect(await send(gateway.endpoint.href, { method })).toMatchObject({ status: 200, text: '{"ok":true}' });
});

it.each(['POST', 'GET'])('refuses a certificate that no trusted authority has signed (%s)', async (method) => {
  expect((await send(distrustful.endpoint.href, { method })).status).toBe(502);
});
