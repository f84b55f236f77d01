// Portkey's open gateway as a process of its own. Install it first: npm ci --prefix bench/peers --ignore-scripts
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../gateway.mjs';
import { start } from '../processes.mjs';

const SERVER = new URL('node_modules/@portkey-ai/gateway/build/start-server.js', import.meta.url).pathname;
const START_MS = 30_000;

/** Resolves with what its callers need to reach a provider of OpenAI's form through it. */
export async function startPortkey() {
  if (!existsSync(SERVER)) throw new Error('npm ci --prefix bench/peers --ignore-scripts comes first');
  const port = await freePort();
  const child = start(SERVER, {
    args: [`--port=${port}`, '--headless'],
    env: { NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: 'localhost,127.0.0.1' },
  });
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(url);
  return {
    for: (base) => ({
      child,
      url: `${url}/v1/chat/completions`,
      headers: {
        authorization: 'Bearer not-a-secret',
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': base.replace('127.0.0.1', 'localhost'),
      },
    }),
  };
}

async function untilAnswers(url) {
  for (const end = Date.now() + START_MS; Date.now() < end; await sleep(100)) {
    if ((await fetch(url).catch(() => undefined)) !== undefined) return;
  }
  throw new Error(`Portkey's gateway did not answer within ${START_MS} ms`);
}
