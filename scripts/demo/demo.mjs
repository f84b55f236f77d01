// `npm run demo`: a gateway and a scripted provider behind it, on this machine, with commands to try. Ctrl-C ends both, and deletes
// their data. PORT chooses another port.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { runGateway } from './gateway.mjs';
import { startScriptedProvider } from './scripted-provider.mjs';

const DEFAULT_PORT = '8787';
const PAUSE_MS = 60;
const MODEL = 'demo';
/** In US dollars for one token. */
const PRICES = { input: '0.000002', output: '0.00001' };
/** A stream that someone still reads does not hold Ctrl-C up for longer. */
const GRACE_MS = '500';

try {
  const port = process.env.PORT || DEFAULT_PORT;
  await assertFree(port);
  process.exitCode = await run(port);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function run(port) {
  const provider = await startScriptedProvider({ pauseMs: PAUSE_MS });
  const { host } = new URL(provider.url);
  const gateway = await runGateway({ PORT: port, EGRESS_ALLOW: host, LOG_LEVEL: 'warn', SHUTDOWN_GRACE_MS: GRACE_MS });
  const interrupted = signalled();
  try {
    const shown = gateway.started.then((started) => showGateway(started, provider));
    // A start that is interrupted fails later, when no one asks any more.
    await Promise.race([shown, interrupted]);
    const { isSignal } = await Promise.race([interrupted, gateway.closed.then(() => ({ isSignal: false }))]);
    if (!isSignal) console.error('The gateway has ended by itself.');
    return isSignal ? 0 : 1;
  } finally {
    provider.close();
    await gateway.stop();
  }
}

/** Resolves at Ctrl-C, when the terminal closes, and when another program ends this one. Later signals change nothing. */
function signalled() {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve({ isSignal: true }));
  });
}

/** Before the build, which takes its time. */
async function assertFree(port) {
  if (!/^\d+$/.test(port) || Number(port) > 65_535)
    throw new Error(`PORT must be a number up to 65535, and is ${port}.`);
  const server = createServer();
  try {
    server.listen(Number(port), '127.0.0.1');
    await once(server, 'listening');
  } catch (cause) {
    const reason = cause.code === 'EADDRINUSE' ? 'is in use by another program' : `cannot be used (${cause.code})`;
    throw new Error(`Port ${port} ${reason}. Choose another port: PORT=8788 npm run demo`, { cause });
  }
  server.close();
}

async function showGateway({ url, adminKey, ask }, provider) {
  const config = { base_url: `${provider.url}/v1` };
  const { slug: virtual_key } = await ask('/v1/virtual-keys', {
    name: 'Scripted provider',
    slug: 'scripted',
    provider: 'openai-compatible',
    key: 'the-key-of-the-provider',
    config,
  });
  await ask('/v1/model-routes', { name: MODEL, targets: [{ virtual_key, model: MODEL }] });
  for (const [unit, price] of Object.entries(PRICES)) {
    await ask('/v1/prices', { provider: 'openai-compatible', model: MODEL, unit, price });
  }
  const { key } = await ask('/v1/api-keys', {
    name: 'demo',
    workspace_id: 'default',
    scopes: ['completions.write'],
  });
  console.log(textFor({ url, key, adminKey, provider: provider.url }));
}

function textFor({ url, key, adminKey, provider }) {
  const messages = [{ role: 'user', content: 'Hello' }];
  return `
The gateway listens on ${url}. Behind it, at ${provider}, is a provider whose model follows a script:
no account is needed, and nothing leaves this machine. Try, in another terminal:

# A chat. The headers of the answer say what served it, and what it cost.
${curl('-si', `${url}/v1/chat/completions`, `authorization: Bearer ${key}`, { model: MODEL, messages })}

# The same as a stream.
${curl('-sN', `${url}/v1/chat/completions`, `authorization: Bearer ${key}`, { model: MODEL, stream: true, messages })}

# A message in Anthropic's format, as a stream.
${curl('-sN', `${url}/v1/messages`, `x-api-key: ${key}`, { model: MODEL, max_tokens: 100, stream: true, messages })}

# OpenAI's SDKs (chats, responses, embeddings), Anthropic's SDKs and Claude Code. The model is ${MODEL}.
export OPENAI_BASE_URL=${url}/v1 OPENAI_API_KEY=${key}
export ANTHROPIC_BASE_URL=${url} ANTHROPIC_AUTH_TOKEN=${key} ANTHROPIC_MODEL=${MODEL}

# The admin key, for limits, reports and the rest of the API (${url}/docs).
export TOLLGATE_KEY=${adminKey}

Ctrl-C ends the gateway and the provider, and deletes their data.
`;
}

function curl(options, address, credential, body) {
  return [
    `curl ${options} ${address}`,
    `-H '${credential}' -H 'content-type: application/json'`,
    `-d '${JSON.stringify(body)}'`,
  ].join(' \\\n  ');
}
