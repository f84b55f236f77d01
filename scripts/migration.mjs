// Runs migrations as the gateway does, and TypeORM's other migration commands, on the built data source.
//   node scripts/migration.mjs run | revert | show
//   node scripts/migration.mjs generate <verb>-<noun>   writes migrations/<epoch-ms>-<verb>-<noun>.ts
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from './build.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DATA_SOURCE = 'dist/src/cli/data-source.js';
const USAGE = 'usage: node scripts/migration.mjs run | revert | show | generate <verb>-<noun>';

const [command = '', name = ''] = process.argv.slice(2);
const isName = /^[a-z]+(-[a-z0-9]+)+$/.test(name);
if (!['run', 'revert', 'show'].includes(command) && !(command === 'generate' && isName)) exit(USAGE);

try {
  await buildIfStale();
} catch (error) {
  exit(error.message);
}
if (command === 'generate') generate();
else if (command === 'run') run('dist/src/cli/run-migrations.js', []);
else typeorm([`migration:${command}`]);

function generate() {
  const timestamp = Date.now();
  const file = `migrations/${timestamp}-${name}.ts`;
  // TypeORM puts the timestamp in front of the last part of the path.
  typeorm(['migration:generate', `migrations/${name}`, '--timestamp', String(timestamp), '--pretty']);
  const text = readFileSync(join(ROOT, file), 'utf8');
  writeFileSync(join(ROOT, file), text.replace('import {', 'import type {')); // it names types only
  run('node_modules/prettier/bin/prettier.cjs', ['--log-level', 'warn', '--write', file]);
  console.log(`Read ${file}, then add its class at the end of the list in migrations/migrations.ts.`);
}

function typeorm(args) {
  run('node_modules/typeorm/cli.js', [...args, '--dataSource', DATA_SOURCE]);
}

function run(script, args) {
  const { status } = spawnSync(process.execPath, [script, ...args], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

function exit(message) {
  console.error(message);
  process.exit(1);
}
