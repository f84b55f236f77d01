// Builds console/dist with Vite.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const ROOT = join(dirname(dirname(fileURLToPath(import.meta.url))), 'console');
const DIST = join(ROOT, 'dist');
const STAMP = '.built';
const SOURCES = ['index.html', 'package.json', 'vite.config.ts', '../package.json', '../package-lock.json'];
const SOURCE_FOLDERS = ['src', 'public'];
const ATTEMPTS = 5;

/** Builds the console unless the build that is there was made from the same sources. */
export async function buildConsoleIfStale() {
  const wanted = fingerprint();
  if (stampOf(DIST) !== wanted) await build(wanted);
}

export async function buildConsole() {
  await build(fingerprint());
}

/** In a folder of its own, which then takes the place of the old one: builders that race do the work twice, no more. */
async function build(wanted) {
  console.error('building the console…');
  const out = join(ROOT, `dist-next-${process.pid}`);
  mkdirSync(out);
  try {
    await runVite(out);
    for (const name of readdirSync(join(out, 'assets'))) {
      const file = join(out, 'assets', name);
      writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
    }
    writeFileSync(join(out, STAMP), wanted);
    putInPlace(out, wanted);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

async function runVite(out) {
  const vite = join(ROOT, '../node_modules/vite/bin/vite.js');
  if (!existsSync(vite)) throw new Error('The build tools are missing: run "npm ci" first.');
  const child = spawn(process.execPath, [vite, 'build', '--logLevel', 'error'], {
    cwd: ROOT,
    env: { ...process.env, CONSOLE_OUT: out, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code === 0) return;
  process.stderr.write(Buffer.concat(output));
  throw new Error('The build of the console failed.');
}

function putInPlace(out, wanted) {
  for (let attempt = 1; ; attempt += 1) {
    if (stampOf(DIST) === wanted) return;
    try {
      if (existsSync(DIST)) renameSync(DIST, join(out, '.previous'));
      renameSync(out, DIST);
      rmSync(join(DIST, '.previous'), { recursive: true, force: true });
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/** A digest of everything that the build reads. */
function fingerprint() {
  const hash = createHash('sha256');
  for (const file of [...SOURCES, ...SOURCE_FOLDERS.flatMap(filesIn)]) {
    hash.update(`${file}\n`).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest('hex');
}

function filesIn(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

function stampOf(folder) {
  const stamp = join(folder, STAMP);
  return existsSync(stamp) ? readFileSync(stamp, 'utf8') : undefined;
}
