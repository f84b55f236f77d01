// Independent programs check the gateway: the MCP inspector, and the public MCP conformance suite, which must yield the same
// results through the gateway as at the server itself.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readArray, readObject } from '../src/common/json/read.js';
import { conformanceOf } from './support/conformance.js';
import { GatewayClient } from './support/gateway-client.js';
import { type HttpFront, startFront } from './support/http-front.js';
import { createEverythingServer } from './support/mcp-everything-server.js';
import { TOOLS } from './support/mcp-everything-tools.js';
import { type McpSdkServer, startMcpServer } from './support/mcp-servers.js';
import { runScript, type ScriptRun } from './support/run-script.js';
import { jsonOf } from './support/send.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';

const INSPECTOR = fileURLToPath(import.meta.resolve('@modelcontextprotocol/inspector-cli/build/index.js'));
/** The suite takes a few seconds; a busy machine may take much longer. */
const SUITE_MS = 120_000;
const DISABLED = 'test_image_content';

let front: HttpFront;
let replicas: readonly TestApp[];
let server: McpSdkServer;
let admin: GatewayClient;

beforeAll(async () => {
  [front, server] = await Promise.all([
    // The suite sends no key of its own.
    startFront({ 'x-gateway-api-key': ADMIN_KEY }),
    startMcpServer({
      create: createEverythingServer,
      resumable: true,
      checksHost: true,
      // Some of the suite's requests name an older revision than they agreed on, without the features that they test.
      revision: '2025-11-25',
    }),
  ]);
  const settings = { MCP_PUBLIC_URL: front.origin };
  const first = await startTestApp(settings);
  replicas = [first, await startTestApp(settings, true)];
  front.sendTo(...replicas.map(({ url }) => url));
  admin = new GatewayClient(first.url);
  const url = server.endpoint.href;
  for (const slug of ['everything', 'restricted']) await admin.create('/v1/mcp-servers', { name: slug, slug, url });
  const tools = [{ name: DISABLED, enabled: false }];
  expect((await admin.put('/v1/mcp-servers/restricted/tools', { tools })).status).toBe(200);
});

afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await Promise.all([front.close(), server.close()]);
});

describe('the conformance suite', () => {
  let direct: readonly string[];

  beforeAll(async () => {
    direct = await conformanceOf(server.endpoint.href);
  }, SUITE_MS);

  it('passes the whole conformance suite at the test server itself', () => {
    expect(direct.length).toBeGreaterThan(40);
    expect(direct.filter((line) => !line.endsWith(' SUCCESS'))).toEqual([]);
  });

  it(
    'yields the same results through the gateway on alternating replicas',
    async () => {
      expect(await conformanceOf(`${front.origin}/everything/mcp`)).toEqual(direct);
    },
    SUITE_MS,
  );

  it(
    'fails only the test of a tool that is disabled',
    async () => {
      const through = await conformanceOf(`${front.origin}/restricted/mcp`);
      expect(through).toEqual(direct.map((line) => line.replace(/^(tools-call-image: \S+) SUCCESS$/, '$1 FAILURE')));
      expect(through).not.toEqual(direct);
    },
    SUITE_MS,
  );
});

describe('the inspector', () => {
  /** Calls an MCP method; the front adds a valid key when none is given. */
  const inspect = (slug: string, method: string, ...words: readonly string[]): Promise<ScriptRun> =>
    runScript(INSPECTOR, [`${front.origin}/${slug}/mcp`, '--transport', 'http', '--method', method, ...words]);

  it(
    'lets the MCP inspector list tools and call one with its own key',
    async () => {
      const { key } = await admin.createKey({ scopes: ['mcp.invoke'] });
      const own = ['--header', `x-gateway-api-key: ${key}`];
      const listed = jsonOf({ text: (await inspect('everything', 'tools/list', ...own)).stdout });
      expect(namesIn(listed['tools'])).toEqual(TOOLS.map(({ name }) => name));
      const called = await inspect('everything', 'tools/call', '--tool-name', 'test_simple_text', ...own);
      expect(jsonOf({ text: called.stdout })).toEqual({
        content: [{ type: 'text', text: 'This is a simple text response for testing.' }],
      });
    },
    SUITE_MS,
  );

  it(
    'refuses the MCP inspector with an invalid key and hides disabled tools from it',
    async () => {
      const refused = await inspect('everything', 'tools/list', '--header', 'x-gateway-api-key: bad');
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toContain('api_key_invalid');
      const listed = jsonOf({ text: (await inspect('restricted', 'tools/list')).stdout });
      expect(namesIn(listed['tools'])).not.toContain(DISABLED);
      expect(namesIn(listed['tools'])).toHaveLength(TOOLS.length - 1);
      expect((await inspect('restricted', 'tools/call', '--tool-name', DISABLED)).code).toBe(1);
    },
    SUITE_MS,
  );
});

function namesIn(tools: unknown): readonly unknown[] {
  return readArray(tools, 'tools').map((tool) => readObject(tool, 'tool')['name']);
}
