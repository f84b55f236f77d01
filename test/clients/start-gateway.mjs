// Starts the gateway of a repository in a new folder, on the embedded database.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const START_MS = 60_000;

/** @returns its address, a function that creates with the admin key, and one that stops it */
export async function startGateway(root) {
  const folder = mkdtempSync(path.join(tmpdir(), 'tollgate-clients-'));
  execFileSync(process.execPath, ['scripts/build.mjs', '--if-stale'], { cwd: root, stdio: 'inherit' });
  const child = spawn(process.execPath, [path.join(root, 'dist/src/main.js')], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', DATA_DIR: folder, EGRESS_ALLOW: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { url, adminKey } = await started(child);
    const headers = { 'x-gateway-api-key': adminKey, 'content-type': 'application/json' };
    const ask = async (address, body) => {
      const answer = await fetch(url + address, {
        headers,
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(await answer.text());
      return answer.json();
    };
    return { url, ask, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The address and the admin key that the first start prints. */
async function started(child) {
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const end = Date.now() + START_MS;
  while (Date.now() < end && child.exitCode === null) {
    const url = /Tollgate listens on (\S+)/.exec(output)?.[1];
    const adminKey = /\btg_\w+/.exec(output)?.[0];
    if (url !== undefined && adminKey !== undefined) return { url, adminKey };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the gateway did not start: ${output}`);
}

/** Runs cases one after the other, and returns how many passed and failed. */
export async function runCases(cases, milliseconds, context) {
  let passed = 0;
  let failed = 0;
  for (const { title, run } of cases) {
    try {
      await within(milliseconds, run(context()));
      passed += 1;
      console.log(`✓ ${title}`);
    } catch (error) {
      failed += 1;
      console.log(`✕ ${title}\n`, error);
    }
  }
  return { passed, failed };
}

function within(milliseconds, work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${milliseconds} ms`)), milliseconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
