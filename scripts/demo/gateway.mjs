// Runs the built gateway as a process of its own: in a new folder, on the embedded database, with no setting of this shell.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from '../build.mjs';

const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));
/** A machine that runs other suites beside this has taken more than a minute. */
const START_MS = 180_000;
const SHOWN = 4_000;

/**
 * @param settings besides those that keep the gateway on this machine and in its folder
 * @param knownKey the admin key of a database that an earlier start has filled: a gateway prints it once
 * @returns `started`, a promise of its address, its admin key and `ask`, which calls its API with that key; `closed`, a promise of
 *   its end; and `stop`, which ends it and deletes its folder
 */
export async function runGateway(settings, knownKey) {
  await buildIfStale();
  const folder = mkdtempSync(path.join(tmpdir(), 'tollgate-'));
  const child = spawn(process.execPath, [MAIN], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', DATA_DIR: folder, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const stop = async () => {
    child.kill();
    await closed;
    rmSync(folder, { recursive: true, force: true });
  };
  return { started: started(child, knownKey), closed, stop };
}

async function started(child, knownKey) {
  const { url, adminKey } = await firstLines(child, knownKey);
  const headers = { 'x-gateway-api-key': adminKey, 'content-type': 'application/json' };
  const ask = async (address, body) => {
    const answer = await fetch(url + address, {
      headers,
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  return { url, adminKey, ask };
}

/** The address, and the admin key that the first start prints. */
async function firstLines(child, knownKey) {
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const end = Date.now() + START_MS;
  while (Date.now() < end && child.exitCode === null && child.signalCode === null) {
    const url = /Tollgate listens on (\S+)/.exec(output)?.[1];
    const adminKey = knownKey ?? /\btg_\w+/.exec(output)?.[0];
    if (url !== undefined && adminKey !== undefined) {
      child.stdout.removeAllListeners('data').resume();
      return { url, adminKey };
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { exitCode, signalCode } = child;
  throw new Error(`the gateway did not start (exit code ${exitCode}, signal ${signalCode}): ${output.slice(-SHOWN)}`);
}
