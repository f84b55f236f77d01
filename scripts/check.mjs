// `npm run check`: every check, two at a time, also after one has failed. Prints each output whole, and lists those that failed.
import { spawn } from 'node:child_process';

/** The slowest ones first. */
const PARTS = ['openapi', 'console', 'lint', 'format', 'unused', 'rooms', 'dependencies', 'words', 'links'];
const AT_ONCE = 2;

const waiting = [...PARTS];
const failed = [];

async function runInTurn() {
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
    const { code, output } = await run(part);
    console.log(`\n== check:${part}\n${output}`);
    if (code !== 0) failed.push(part);
  }
}

function run(part) {
  const child = spawn('npm', ['run', '--silent', `check:${part}`], { stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output: Buffer.concat(chunks).toString() }));
  });
}

await Promise.all(Array.from({ length: AT_ONCE }, runInTurn));
console.log(
  failed.length === 0 ? '\nAll checks passed.' : `\nFailed: ${failed.map((part) => `check:${part}`).join(', ')}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
