import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayClient } from './support/gateway-client.js';
import { callTool, connectClient } from './support/mcp-client.js';
import { send } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const SERVER = fileURLToPath(new URL('../examples/mcp-whoami/server.mjs', import.meta.url));
const API_KEY = 'key-of-the-whoami-server';
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

let gateway: TestApp;
let admin: GatewayClient;
let whoami: ChildProcess;
let url: string;

beforeAll(async () => {
  gateway = await startTestApp({ JWT_PRIVATE_KEY: PEM });
  admin = new GatewayClient(gateway.url);
  const environment = { PATH: process.env['PATH'], GATEWAY_URL: gateway.url, API_KEY, PORT: '0' };
  whoami = spawn(process.execPath, [SERVER], { env: environment, stdio: ['ignore', 'pipe', 'ignore'] });
  const [line]: readonly unknown[] = await once(whoami.stdout ?? whoami, 'data');
  url = /http:\S+/.exec(String(line))?.[0] ?? '';
  await admin.create('/v1/mcp-servers', {
    name: 'whoami',
    url,
    headers: { Authorization: `Bearer ${API_KEY}` },
    user_identity_forwarding: { method: 'jwt_header', include_claims: ['sub', 'email'] },
  });
});

afterAll(async () => {
  whoami.kill();
  await gateway.close();
});

describe('the example server', () => {
  it('knows the user of the gateway', async () => {
    const user = { user_id: 'alice', email: 'alice@example.com' };
    const { key } = await admin.createKey({ scopes: ['mcp.invoke'], type: 'user', user });
    const { client, close } = await connectClient(`${gateway.url}/whoami/mcp`, { 'x-gateway-api-key': key });
    expect(JSON.parse(await callTool(client, 'whoami', {}))).toMatchObject({
      sub: 'alice',
      email: 'alice@example.com',
      iss: 'service-mcp-gateway',
    });
    await close();
  });

  it('passes the test of the gateway', async () => {
    const answer = await admin.post('/v1/mcp-servers/whoami/test');
    expect(JSON.parse(answer.text)).toMatchObject({ ok: true, tools: 1, server: { name: 'whoami' } });
  });

  it('refuses whoever goes around the gateway', async () => {
    const answer = await send(url, { headers: { authorization: 'Bearer wrong' }, body: '{}' });
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer']);
  });
});
