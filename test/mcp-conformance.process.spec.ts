// Programs of others judge the gateway: the public conformance suite of MCP, which has to find in the gateway what it finds in
// the server behind, and the inspector.
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
/** The suite takes a few seconds; a busy machine gets far more. */
const SUITE_MS = 120_000;
const DISABLED = 'test_image_content';

let front: HttpFront;
let replicas: readonly TestApp[];
let server: McpSdkServer;
let admin: GatewayClient;

beforeAll(async () => {
  [front, server] = await Promise.all([
    // The suite brings no key of its own.
    startFront({ 'x-gateway-api-key': ADMIN_KEY }),
    startMcpServer({
      create: createEverythingServer,
      resumable: true,
      checksHost: true,
      // Some of the suite's requests name an older revision than it has agreed on, one without what they then look for.
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

  it('is content with the server of these tests', () => {
    expect(direct.length).toBeGreaterThan(40);
    expect(direct.filter((line) => !line.endsWith(' SUCCESS'))).toEqual([]);
  });

  it(
    'finds the same through the gateway, whichever replica gets a request',
    async () => {
      expect(await conformanceOf(`${front.origin}/everything/mcp`)).toEqual(direct);
    },
    SUITE_MS,
  );

  it(
    'misses a tool that is disabled, and nothing else',
    async () => {
      const through = await conformanceOf(`${front.origin}/restricted/mcp`);
      expect(through).toEqual(direct.map((line) => line.replace(/^(tools-call-image: \S+) SUCCESS$/, '$1 FAILURE')));
      expect(through).not.toEqual(direct);
    },
    SUITE_MS,
  );
});

describe('the inspector', () => {
  /** Asks for a method of MCP; the front adds a good key where no other is given. */
  const inspect = (slug: string, method: string, ...words: readonly string[]): Promise<ScriptRun> =>
    runScript(INSPECTOR, [`${front.origin}/${slug}/mcp`, '--transport', 'http', '--method', method, ...words]);

  it(
    'lists the tools and calls one, with a key of its own',
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
    'is refused with a bad key, and does not see what is disabled',
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
