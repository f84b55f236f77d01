// Builds dist/ with `nest build`, and the console with Vite.
//   node scripts/build.mjs             both, always
//   node scripts/build.mjs --if-stale  dist/ alone, and only when it was made from other sources
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildConsole } from './build-console.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, 'dist');
const STAMP = '.built';
const SOURCE_FOLDERS = ['src', 'migrations'];
const SETTINGS = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json'];
// Plain JavaScript that Node starts by path, so it must be in dist whatever the compiler thinks of it.
const WORKERS = ['src/database/embedded/pglite.worker.js', 'src/inference/token-counts/token-counter.worker.js'];
// Read when the gateway starts.
const SQL_FOLDERS = ['migrations/baseline', 'migrations/functions'];
const TABLES = ['src/usage/snapshot/prices.csv', 'src/usage/snapshot/models.csv'];
// A builder that was killed leaves its folder behind; no build takes nearly this long.
const ABANDONED_AFTER_MS = 10 * 60_000;

export async function buildIfStale() {
  const wanted = fingerprint();
  if (stampOf(DIST) !== wanted) await build(wanted);
}

// Each builder writes into a folder of its own, beside dist so that source maps keep their relative paths. Builders that
// race do the work twice, but none of them sees, or deletes, a half-written dist.
async function build(wanted) {
  removeAbandonedBuilds();
  const out = join(ROOT, `dist-next-${process.pid}`);
  const config = join(ROOT, 'node_modules', `.tollgate-build-${process.pid}.json`);
  const cleanUp = () => {
    rmSync(out, { recursive: true, force: true });
    rmSync(config, { force: true });
  };
  process.once('exit', cleanUp);
  try {
    console.error('building…');
    // The types are checked by `npm run check:lint`: here it would double the time of a first start.
    const compilerOptions = { outDir: out, noCheck: true };
    writeFileSync(config, JSON.stringify({ extends: join(ROOT, 'tsconfig.build.json'), compilerOptions }));
    await compile(relative(ROOT, config));
    for (const file of WORKERS) {
      if (existsSync(join(ROOT, file)) && !existsSync(join(out, file))) cpSync(join(ROOT, file), join(out, file));
    }
    for (const file of TABLES) cpSync(join(ROOT, file), join(out, file));
    for (const folder of SQL_FOLDERS) cpSync(join(ROOT, folder), join(out, folder), { recursive: true });
    writeFileSync(join(out, STAMP), wanted);
    putInPlace(out, wanted);
  } finally {
    cleanUp();
    process.off('exit', cleanUp);
  }
}

async function compile(config) {
  const nest = join(ROOT, 'node_modules/@nestjs/cli/bin/nest.js');
  if (!existsSync(nest)) throw new Error('The build tools are missing: run "npm ci" first.');
  const child = spawn(process.execPath, [nest, 'build', '--path', config], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = [];
  child.stdout.on('data', (chunk) => output.push(chunk));
  child.stderr.on('data', (chunk) => output.push(chunk));
  // A signal that stops the build must stop the compiler too.
  const stop = (signal) => {
    child.kill(signal);
    process.exit(128 + constants.signals[signal]);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const code = await new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', done);
  });
  process.off('SIGINT', stop).off('SIGTERM', stop);
  if (code === 0) return;
  process.stderr.write(Buffer.concat(output));
  throw new Error('The build failed.');
}

/** Swaps the finished folder in by two renames; the old dist leaves inside the new one and is then removed. */
function putInPlace(out, wanted) {
  for (let attempt = 1; ; attempt += 1) {
    if (stampOf(DIST) === wanted) return; // another builder was faster
    try {
      if (existsSync(DIST)) renameSync(DIST, join(out, '.previous'));
      renameSync(out, DIST);
      rmSync(join(DIST, '.previous'), { recursive: true, force: true });
      return;
    } catch (error) {
      rmSync(join(out, '.previous'), { recursive: true, force: true });
      if (attempt === 5) throw error;
    }
  }
}

/** A digest of everything the build reads. Contents, not times: a checkout that goes back and forth must be noticed too. */
function fingerprint() {
  const hash = createHash('sha256');
  for (const file of [...SETTINGS, ...TABLES, ...SOURCE_FOLDERS.flatMap(sourceFilesIn)]) {
    hash.update(`${file}\n`).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest('hex');
}

function sourceFilesIn(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|js|sql)$/.test(entry.name) && !entry.name.endsWith('.spec.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes('__fixtures__'))
    .sort();
}

function stampOf(folder) {
  const stamp = join(folder, STAMP);
  return existsSync(stamp) ? readFileSync(stamp, 'utf8') : undefined;
}

function removeAbandonedBuilds() {
  for (const name of readdirSync(ROOT)) {
    if (!name.startsWith('dist-next-')) continue;
    const age = Date.now() - statSync(join(ROOT, name), { throwIfNoEntry: false })?.mtimeMs;
    if (age > ABANDONED_AFTER_MS) rmSync(join(ROOT, name), { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    const isForced = !process.argv.includes('--if-stale');
    if (isForced) rmSync(join(DIST, STAMP), { force: true });
    await buildIfStale();
    if (isForced) await buildConsole();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
