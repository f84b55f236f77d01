// Runs coding agents against a gateway before a scripted model, each with an address and a key alone. Each has to do a round trip
// with one of its tools, under a usage limit. The last line is "N passed, M failed".
//   npm ci && node run.mjs [root of the repository]
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual, promisify } from 'node:util';

/** The scripted model lets the agent print it, and repeats what the agent's tool returned. */
const REPEATED = /The tool said from-the-tool\./;
/** Of one call, in tokens. */
const CALL_TOKENS = 30;
/** Only an agent that hangs needs as long. */
const AGENT_MS = 240_000;
/** Calls are settled after their answers. */
const SETTLED_MS = 60_000;
const WHOAMI_KEY = 'key-of-the-gateway';
const NOVA = 'amazon.nova-pro-v1:0';
const CONVERSE_PATH = `/model/${encodeURIComponent(NOVA)}/converse-stream`;
const TASK = 'Use your tool for commands once, then say what it said.';

const root = process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url));
const fromRoot = (file) => import(pathToFileURL(path.join(root, file)));
const { runCases } = await fromRoot('test/clients/run-cases.mjs');
const { runGateway } = await fromRoot('scripts/demo/gateway.mjs');
const { startScriptedProvider } = await fromRoot('scripts/demo/scripted-provider.mjs');
const { converseAnswer } = await fromRoot('scripts/demo/converse-answers.mjs');
const folder = mkdtempSync(path.join(tmpdir(), 'tollgate-agents-'));

const AGENTS = [
  {
    title: 'Claude Code does a round trip with a tool, under a limit',
    run: async ({ url, keyOf, assertUsed }) => {
      const key = await keyOf('anthropic');
      const said = await runAgent('claude', ['-p', TASK, '--allowedTools', 'Bash'], {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_AUTH_TOKEN: key,
        ANTHROPIC_MODEL: 'claude-sonnet-4-5',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      });
      assert.match(said, REPEATED);
      await assertUsed(key, 'messages');
    },
  },
  {
    title: 'Claude Code finds the virtual key in the name of the model, which is at Converse of Bedrock',
    run: async ({ url, keyOf, calls }) => {
      const said = await runAgent('claude', ['-p', TASK, '--allowedTools', 'Bash'], {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: await keyOf(undefined),
        ANTHROPIC_MODEL: `@bedrock/${NOVA}`,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      });
      assert.match(said, REPEATED);
      assert.deepEqual(new Set(calls.map((call) => call.path)), new Set([CONVERSE_PATH]));
    },
  },
  {
    title: 'Claude Code that is set up for Vertex AI does a round trip with a tool',
    run: async ({ url, keyOf, calls }) => {
      const said = await runAgent('claude', ['-p', TASK, '--allowedTools', 'Bash'], {
        CLAUDE_CODE_USE_VERTEX: '1',
        CLAUDE_CODE_SKIP_VERTEX_AUTH: '1',
        ANTHROPIC_VERTEX_BASE_URL: `${url}/v1`,
        ANTHROPIC_VERTEX_PROJECT_ID: 'any-project',
        CLOUD_ML_REGION: 'global',
        ANTHROPIC_CUSTOM_HEADERS: `x-gateway-api-key: ${await keyOf(undefined)}`,
        ANTHROPIC_MODEL: '@anthropic/claude-sonnet-4-5',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      });
      assert.match(said, REPEATED);
      assert.deepEqual(new Set(calls.map((call) => call.path)), new Set(['/v1/messages']));
    },
  },
  {
    title: 'Claude Code does a round trip with a tool on a model that speaks chats alone',
    run: async ({ url, keyOf, assertUsed, calls }) => {
      const key = await keyOf('openai');
      const said = await runAgent('claude', ['-p', TASK, '--allowedTools', 'Bash'], {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_AUTH_TOKEN: key,
        ANTHROPIC_MODEL: 'gpt-5-mini',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      });
      assert.match(said, REPEATED);
      assert.deepEqual(new Set(calls.map((call) => call.path)), new Set(['/v1/chat/completions']));
      await assertUsed(key, 'messages');
    },
  },
  {
    title: 'Codex does a round trip with a tool, under a limit',
    run: async ({ url, keyOf, assertUsed }) => {
      const key = await keyOf('openai');
      assert.match(await runCodex(url, key), REPEATED);
      await assertUsed(key, 'responses');
    },
  },
  {
    title: 'Claude Code calls a tool of an MCP server, which gets the verified user',
    run: async ({ url, keyOf, whoami }) => {
      const config = path.join(folder, 'mcp.json');
      writeFileSync(config, JSON.stringify({ mcpServers: { whoami: { type: 'http', ...whoami } } }));
      const words = [
        '-p',
        TASK,
        '--mcp-config',
        config,
        '--strict-mcp-config',
        '--allowedTools',
        'mcp__whoami__whoami',
      ];
      const said = await runAgent('claude', words, {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_AUTH_TOKEN: await keyOf('anthropic'),
        ANTHROPIC_MODEL: 'claude-sonnet-4-5',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      });
      assert.match(said, /The tool said .*"sub":"ann"/);
    },
  },
  {
    title: 'Codex calls a tool of an MCP server, which gets the verified user',
    run: async ({ url, keyOf, whoami }) => {
      const headers = Object.entries(whoami.headers).map(([name, value]) => `"${name}" = "${value}"`);
      const server = `[mcp_servers.whoami]\nurl = "${whoami.url}"\nhttp_headers = { ${headers.join(', ')} }\n`;
      const said = await runCodex(url, await keyOf('openai'), undefined, server);
      assert.match(said, /The tool said .*"sub":"ann"/);
    },
  },
  ...[
    ['on a model of Anthropic', 'anthropic', 'claude-sonnet-4-5', '/v1/messages'],
    ['on a model that speaks chats alone', 'gemini', 'gemini-2.5-flash', '/v1/chat/completions'],
    ['on a model of Bedrock', 'bedrock', NOVA, CONVERSE_PATH],
  ].map(([where, virtualKey, name, path]) => ({
    title: `Codex does a round trip with a tool ${where}`,
    run: async ({ url, keyOf, assertUsed, calls }) => {
      const key = await keyOf(virtualKey);
      assert.match(await runCodex(url, key, name), REPEATED);
      assert.deepEqual(
        calls.map((call) => call.path),
        [path, path],
      );
      await assertUsed(key, 'responses');
    },
  })),
  ...[
    ['chats', 'openai', '@openai/gpt-5-mini', '/v1', '/v1/chat/completions'],
    ['responses', 'openai', 'gpt-5-mini', '/v1', '/v1/responses'],
    ['messages', 'anthropic', 'claude-sonnet-4-5', '/v1/', '/v1/messages'],
  ].map(([api, provider, name, base, path]) => ({
    title: `Continue does a round trip with a tool by ${api}`,
    run: async ({ url, keyOf, calls }) => {
      const config = { provider, model: name, apiBase: url + base, useResponsesApi: api === 'responses' };
      assert.match(await runContinue({ ...config, apiKey: await keyOf(provider) }), REPEATED);
      assert.deepEqual(
        calls.map((call) => call.path),
        [path, path],
      );
    },
  })),
  ...[
    { name: 'Codex', start: (url, key) => runCodex(url, key) },
    {
      name: 'Continue',
      start: (url, apiKey) => runContinue({ provider: 'openai', model: 'gpt-5-mini', apiBase: `${url}/v1`, apiKey }),
    },
  ].map(({ name, start }) => ({
    title: `${name} says why a call is refused`,
    run: async ({ url, ask, keyOf, calls }) => {
      const team = `a small budget for ${name}`;
      const key = await keyOf('openai', team);
      await ask('/v1/policies/usage-limits', {
        conditions: [{ key: 'metadata.team', value: team }],
        group_by: [{ key: 'metadata.team' }],
        type: 'tokens',
        credit_limit: 100,
        unbounded: 'allow',
      });
      const refused = await start(url, key).catch(({ stdout, stderr }) => stdout + stderr);
      assert.match(refused, /usage limit/i);
      assert.deepEqual(calls, []);
    },
  })),
];

let passed = 0;
let failed = 0;
let gateway;
let server;
const model = await startScriptedProvider({ otherwise: converseAnswer });
try {
  // npm ci has run no scripts, and this one puts the program of Claude Code into its place.
  await promisify(execFile)(process.execPath, [modulePath('@anthropic-ai/claude-code/install.cjs')]);
  gateway = await runGateway({ EGRESS_ALLOW: '127.0.0.1' });
  const started = await gateway.started;
  server = await startWhoami(started.url);
  const context = { ...(await prepare(started)), whoami: await registerWhoami(started, server.url) };
  ({ passed, failed } = await runCases(AGENTS, AGENT_MS, () => {
    model.calls.length = 0;
    return { ...context, calls: model.calls };
  }));
} catch (error) {
  failed += 1;
  console.log('✕ the gateway starts\n', error);
}
server?.stop();
await gateway?.stop();
model.close();
rmSync(folder, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

async function prepare({ url, ask }) {
  for (const [name, base_url] of [
    ['anthropic', model.url],
    ['openai', `${model.url}/v1`],
    ['gemini', `${model.url}/v1`],
  ]) {
    await ask('/v1/virtual-keys', { name, slug: name, provider: name, key: 'provider-key', config: { base_url } });
  }
  const config = { base_url: model.url, aws_region: 'us-east-1', bedrock_endpoint: 'converse' };
  const bedrock = { name: 'bedrock', slug: 'bedrock', provider: 'bedrock', key: 'provider-key', config };
  await ask('/v1/virtual-keys', bedrock);
  await ask('/v1/policies/usage-limits', {
    conditions: [{ key: 'workspace_id', value: 'default' }],
    group_by: [{ key: 'metadata.session' }],
    type: 'tokens',
    credit_limit: 10_000_000,
  });
  const ids = new Map();
  const keyOf = async (default_virtual_key, team = 'agents') => {
    const key = { name: 'an agent', workspace_id: 'default', scopes: ['completions.write'], metadata: { team } };
    const made = await ask('/v1/api-keys', { ...key, default_virtual_key });
    ids.set(made.key, made.id);
    return made.key;
  };
  /** Two calls of a key, at one endpoint. */
  const assertUsed = async (key, endpoint) => {
    const end = Date.now() + SETTLED_MS;
    for (;;) {
      const { data } = await ask(`/v1/usage?group_by=endpoint&api_key=${ids.get(key)}`);
      const used = data.map(({ group, calls, tokens }) => [group.endpoint, calls, tokens]);
      const expected = [[endpoint, 2, 2 * CALL_TOKENS]];
      if (isDeepStrictEqual(used, expected)) return;
      if (Date.now() > end) assert.deepEqual(used, expected);
      await sleep(200);
    }
  };
  return { url, ask, keyOf, assertUsed };
}

/** The MCP server of examples/mcp-whoami, on a free port. */
async function startWhoami(gatewayUrl) {
  const child = spawn(process.execPath, [path.join(root, 'examples/mcp-whoami/server.mjs')], {
    env: { GATEWAY_URL: gatewayUrl, API_KEY: WHOAMI_KEY, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  return { url: /http:\S+/.exec(line)[0], stop: () => child.kill() };
}

/** How a client reaches it through the gateway, with the key of a person. */
async function registerWhoami({ url, ask }, address) {
  await ask('/v1/mcp-servers', {
    name: 'whoami',
    slug: 'whoami',
    url: address,
    auth_type: 'headers',
    headers: { Authorization: `Bearer ${WHOAMI_KEY}` },
    user_identity_forwarding: { method: 'jwt_header', include_claims: ['sub'] },
  });
  const person = { name: 'ann', workspace_id: 'default', type: 'user', user: { user_id: 'ann' } };
  const { key } = await ask('/v1/api-keys', { ...person, scopes: ['mcp.invoke'] });
  return { url: `${url}/whoami/mcp`, headers: { 'x-gateway-api-key': key } };
}

/** @param more of its `config.toml` */
function runCodex(url, key, name = 'gpt-5.3-codex', more = '') {
  const home = path.join(folder, 'codex');
  mkdirSync(home, { recursive: true });
  const provider = `[model_providers.tollgate]\nname = "Tollgate"\nbase_url = "${url}/v1"\nenv_key = "TOLLGATE_KEY"\nwire_api = "responses"\n`;
  writeFileSync(
    path.join(home, 'config.toml'),
    `model = "${name}"\nmodel_provider = "tollgate"\nweb_search = "disabled"\n${provider}${more}`,
  );
  const always = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
  return runAgent('codex', [...always, TASK], { CODEX_HOME: home, TOLLGATE_KEY: key });
}

/** @param model as its `config.yaml` has it */
function runContinue(model) {
  const file = path.join(folder, 'continue.yaml');
  // JSON is YAML too.
  const config = {
    name: 'tollgate',
    version: '1.0.0',
    schema: 'v1',
    models: [{ ...model, name: 'chat', roles: ['chat'] }],
  };
  writeFileSync(file, JSON.stringify(config));
  return runAgent('cn', ['--config', file, '-p', '--auto', TASK], { CONTINUE_TELEMETRY_ENABLED: '0' });
}

function modulePath(name) {
  return fileURLToPath(new URL(`node_modules/${name}`, import.meta.url));
}

/** What an agent prints. Rejects when it fails. */
async function runAgent(name, words, settings) {
  const command = modulePath(`.bin/${name}`);
  const running = promisify(execFile)(command, words, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...settings },
    timeout: AGENT_MS,
  });
  running.child.stdin.end();
  return (await running).stdout;
}
