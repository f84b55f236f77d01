import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readString } from '../src/common/json/read.js';
import { GatewayClient } from './support/gateway-client.js';
import { callTool, connectClient } from './support/mcp-client.js';
import { send } from './support/send.js';
import { addTenant } from './support/tenants.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const SERVER = fileURLToPath(new URL('../examples/mcp-whoami/server.mjs', import.meta.url));
const API_KEY = 'key-of-the-whoami-server';
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

let gateway: TestApp;
let admin: GatewayClient;
let url: string;
const running: ChildProcess[] = [];

beforeAll(async () => {
  gateway = await startTestApp({ JWT_PRIVATE_KEY: PEM });
  admin = new GatewayClient(gateway.url);
  url = await startWhoami();
  await admin.create('/v1/mcp-servers', registration('whoami', url, ['sub', 'email']));
});

afterAll(async () => {
  for (const child of running) child.kill();
  await gateway.close();
});

/** @returns its address */
async function startWhoami(settings: Readonly<Record<string, string>> = {}): Promise<string> {
  const env = { PATH: process.env['PATH'], GATEWAY_URL: gateway.url, API_KEY, PORT: '0', ...settings };
  const child = spawn(process.execPath, [SERVER], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  running.push(child);
  const [line]: readonly unknown[] = await once(child.stdout ?? child, 'data');
  return /http:\S+/.exec(String(line))?.[0] ?? '';
}

function registration(name: string, address: string, claims: readonly string[]): object {
  return {
    name,
    url: address,
    headers: { Authorization: `Bearer ${API_KEY}` },
    user_identity_forwarding: { method: 'jwt_header', include_claims: claims },
  };
}

async function whoIs(caller: GatewayClient, server: string): Promise<string> {
  const user = { user_id: 'alice', email: 'alice@example.com' };
  const { key } = await caller.createKey({ scopes: ['mcp.invoke'], type: 'user', user });
  const { client, close } = await connectClient(`${gateway.url}/${server}/mcp`, { 'x-gateway-api-key': key });
  const told = await callTool(client, 'whoami', {});
  await close();
  return told;
}

describe('the whoami example server', () => {
  it("returns the gateway's user in the whoami example", async () => {
    expect(JSON.parse(await whoIs(admin, 'whoami'))).toMatchObject({
      sub: 'alice',
      email: 'alice@example.com',
      iss: 'service-mcp-gateway',
    });
  });

  it('accepts only the configured organisation in the whoami example', async () => {
    const other = await addTenant(gateway, 'other');
    const ORGANISATION_ID = readString(
      (await admin.read('/v1/workspaces/default'))['organisation_id'],
      'organisation_id',
    );
    const address = await startWhoami({ ORGANISATION_ID });
    const claims = ['sub', 'organisation_id'];
    await admin.create('/v1/mcp-servers', registration('ours', address, claims));
    await other.client.create('/v1/mcp-servers', registration('theirs', address, claims));
    await other.client.create('/v1/mcp-servers', registration('hidden', address, ['sub']));
    expect(JSON.parse(await whoIs(admin, 'ours'))).toMatchObject({ sub: 'alice', organisation_id: ORGANISATION_ID });
    for (const server of ['theirs', 'hidden']) expect(await whoIs(other.client, server)).toBe('no verified user');
  });

  it("passes the gateway's server test with the whoami example", async () => {
    const answer = await admin.post('/v1/mcp-servers/whoami/test');
    expect(JSON.parse(answer.text)).toMatchObject({ ok: true, tools: 1, server: { name: 'whoami' } });
  });

  it('refuses callers that bypass the gateway in the whoami example', async () => {
    const answer = await send(url, { headers: { authorization: 'Bearer wrong' }, body: '{}' });
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer']);
  });
});
