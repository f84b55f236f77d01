// Node's module hooks for the tests: TypeScript is compiled when it is imported, and kept on disk by its content.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../../', import.meta.url).href;
const CACHE = new URL('node_modules/.cache/tests/', ROOT);
const GLOBALS = new URL('globals.mjs', import.meta.url).href;
const require = createRequire(import.meta.url);
const SETTINGS = {
  jsc: {
    target: 'es2022',
    keepClassNames: true,
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
  },
  module: { type: 'es6' },
  sourceMaps: 'inline',
};
const COMPILER = JSON.stringify([require('@swc/core/package.json').version, SETTINGS]);

export async function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: GLOBALS, format: 'module', shortCircuit: true };
  const written = typescriptOf(specifier, context.parentURL);
  return written === undefined ? next(specifier, context) : { url: written, format: 'module', shortCircuit: true };
}

/** As the compiler does: an import of "./x.js" means x.ts, where there is one. */
function typescriptOf(specifier, parent) {
  if (parent === undefined || !/^\.{1,2}\/.*\.js$/.test(specifier) || !isOurs(parent)) return undefined;
  const url = new URL(specifier.replace(/\.js$/, '.ts'), parent);
  return existsSync(url) ? url.href : undefined;
}

export async function load(url, context, next) {
  if (!/\.ts(\?|$)/.test(url) || !isOurs(url)) return next(url, context);
  const code = await readFile(new URL(url), 'utf8');
  return { format: 'module', source: await compiled(fileURLToPath(url), code), shortCircuit: true };
}

function isOurs(url) {
  return url.startsWith(ROOT) && !url.includes('/node_modules/');
}

async function compiled(filename, code) {
  const key = createHash('sha256').update(COMPILER).update(filename).update(code).digest('hex');
  const kept = new URL(`${key}.js`, CACHE);
  try {
    return await readFile(kept, 'utf8');
  } catch {
    const { transform } = await import('@swc/core');
    const result = await transform(code, { ...SETTINGS, filename, swcrc: false });
    await keep(kept, result.code);
    return result.code;
  }
}

/** Whole or not at all: the processes of a run share the folder. */
async function keep(file, code) {
  const draft = new URL(`${file.href}.${process.pid}`);
  await mkdir(CACHE, { recursive: true });
  await writeFile(draft, code);
  await rename(draft, file);
}
