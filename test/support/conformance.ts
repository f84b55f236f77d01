import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readArray, readObject, readString } from '../../src/common/json/read.js';
import { runScript } from './run-script.js';

const SUITE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
const PRELOAD = new URL('conformance-preload.mjs', import.meta.url).href;

/** Every check of the public conformance suite for servers, with its outcome: `ping: ping SUCCESS`. */
export async function conformanceOf(url: string): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-conformance-'));
  try {
    const words = ['server', '--url', url, '--suite', 'all', '--output-dir', folder];
    const { stderr } = await runScript(SUITE, words, ['--import', PRELOAD]);
    const results = await readResults(folder);
    if (results.length === 0) throw new Error(`the suite did not run: ${stderr}`);
    return results;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** One folder per scenario, named after it and the time. */
async function readResults(folder: string): Promise<readonly string[]> {
  const results: string[] = [];
  for (const scenario of (await readdir(folder)).toSorted()) {
    const name = scenario.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    const checks: unknown = JSON.parse(await readFile(join(folder, scenario, 'checks.json'), 'utf8'));
    for (const check of readArray(checks, 'checks')) {
      const { id, status } = readObject(check, 'check');
      // Informational results, whose number varies.
      if (status !== 'INFO') results.push(`${name}: ${readString(id, 'id')} ${readString(status, 'status')}`);
    }
  }
  return results;
}
