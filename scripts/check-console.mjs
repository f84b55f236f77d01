// Generates the console's client of the API from the built gateway, and fails when the one that is checked in differs.
//   node scripts/check-console.mjs           compares
//   node scripts/check-console.mjs --write   replaces it
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const CONSOLE = join(ROOT, 'console');
const CLIENT = join(CONSOLE, 'src/api');
const MAX_BYTES = 64 * 1024 * 1024;

const folder = mkdtempSync(join(tmpdir(), 'tollgate-client-'));
try {
  const isWanted = process.argv.includes('--write');
  const output = isWanted ? CLIENT : join(folder, 'api');
  generate(join(folder, 'openapi.json'), output);
  if (!isWanted && textOf(output) !== textOf(CLIENT)) {
    console.error('console/src/api is not what the OpenAPI document says. Refresh it: npm run console:client');
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function generate(document, output) {
  const printed = execFileSync(process.execPath, [join(ROOT, 'dist/src/cli/print-openapi.js')], {
    maxBuffer: MAX_BYTES,
  });
  writeFileSync(document, printed);
  const generator = join(ROOT, 'node_modules/@hey-api/openapi-ts/bin/run.js');
  execFileSync(process.execPath, [generator, '-f', 'openapi-ts.config.ts'], {
    cwd: CONSOLE,
    env: { ...process.env, OPENAPI: document, OUTPUT: output },
    // It prints a line for each keyword that it does not know. A failure has its output in the error.
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** All files of a folder, with their names. */
function textOf(of) {
  return readdirSync(of, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => `${file.slice(of.length)}\n${readFileSync(file, 'utf8')}`)
    .join('\n');
}
