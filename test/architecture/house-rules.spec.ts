// House rules that the linter cannot express. Each check is a function from a file to its broken rules, so that the tests
// also show that it catches a bad sample: a check that cannot fail would prove nothing.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MAX_LINES = 400;

interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Returns the places in a file that break a rule, as a failed test shows them. */
type Check = (file: SourceFile) => readonly string[];

const tooLong: Check = ({ path, text }) => {
  const lines = text.trimEnd().split('\n').length;
  return lines > MAX_LINES ? [`${path} has ${lines} lines`] : [];
};

const barrel: Check = ({ path }) => (/^index\.[cm]?[jt]s$/.test(basename(path)) ? [path] : []);

const readsEnvironment: Check = (file) => {
  if (file.path.startsWith('src/config/') || file.path === 'src/main.ts') return [];
  return placesOf(file, /\bprocess\b/, (node) => {
    if (ts.isPropertyAccessExpression(node)) return node.name.text === 'env' && isProcess(node.expression);
    if (ts.isElementAccessExpression(node))
      return node.argumentExpression.getText() === "'env'" && isProcess(node.expression);
    if (ts.isImportSpecifier(node)) return nameOf(node) === 'env' && moduleOf(node) === 'node:process';
    if (!ts.isVariableDeclaration(node) || node.initializer === undefined || !isProcess(node.initializer)) return false;
    return !ts.isObjectBindingPattern(node.name) || node.name.elements.some((element) => nameOf(element) === 'env');
  });
};

/** Parameter classes are read at run time. Without one, Nest skips validation silently. */
const unvalidatedParameter: Check = (file) =>
  placesOf(file, /@(Body|Query)\b/, (node, root) => {
    if (!ts.isParameter(node) || !hasDecorator(node, ['Body', 'Query'])) return false;
    if (node.type === undefined || !ts.isTypeReferenceNode(node.type)) return true;
    return !classesAtRunTime(root).has(node.type.typeName.getText());
  });

/** Without options, class-validator's message shows the user a regular expression. */
const unexplainedPattern: Check = (file) =>
  placesOf(
    file,
    /@Matches\b/,
    (node) => ts.isCallExpression(node) && node.expression.getText() === 'Matches' && node.arguments.length < 2,
  );

/** Both hide that two modules depend on each other. */
const hiddenDependency: Check = (file) =>
  placesOf(
    file,
    /forwardRef|ModuleRef/,
    (node) => ts.isImportSpecifier(node) && ['forwardRef', 'ModuleRef'].includes(nameOf(node)),
  );

/** On Node 20 it does not hold its signals: a signal that was garbage-collected, as a timeout soon is, never aborts. */
const weakSignal: Check = (file) =>
  placesOf(file, /AbortSignal/, (node) => ts.isPropertyAccessExpression(node) && node.getText() === 'AbortSignal.any');

/** On a second database it would prove more: it is an x.app.spec.ts (decision 66). */
const databaseInOnceSpec: Check = ({ path, text }) => {
  if (!path.endsWith('.once.spec.ts')) return [];
  const found =
    /\b(?:dataSource|books|DATABASE_URL|REDIS_URL)\b|\.limit\(|from '(?:pg|typeorm|ioredis|node:net|.*[./-](?:entity|store|database|services|gateway-pair)\.js)'/.exec(
      text,
    );
  return found === null ? [] : [`${path}: ${found[0]}`];
};

/** A logged error shows its message, statement and parameters, which may quote secrets; `describeDefect` omits them. */
const loggedWhole: Check = (file) =>
  placesOf(
    file,
    /\berr\b/,
    (node) =>
      (ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)) && node.name.getText() === 'err',
  );

/** Packages that few gateways use and that would slow down every start. */
const LOADED_AT_USE = /^(@modelcontextprotocol|@azure|@aws-sdk)\//;

/** Modules that are loaded together with a file, without type imports and `import()`. */
function loadedWith(file: SourceFile): readonly string[] {
  const root = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
  return root.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const isTypeOnly = ts.isImportDeclaration(statement) ? statement.importClause?.isTypeOnly : statement.isTypeOnly;
    const { moduleSpecifier: from } = statement;
    return isTypeOnly !== true && from !== undefined && ts.isStringLiteral(from) ? [from.text] : [];
  });
}

/** The packages among LOADED_AT_USE that a start loads, with the file that does it. */
function loadedAtStart(files: readonly SourceFile[], entries: readonly string[]): readonly string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reached = new Set(entries);
  const places: string[] = [];
  // A set also iterates over items that are added during the iteration.
  for (const path of reached) {
    const file = byPath.get(path);
    for (const from of file === undefined ? [] : loadedWith(file)) {
      if (from.startsWith('.')) reached.add(join(dirname(path), from).replaceAll('\\', '/').replace(/\.js$/, '.ts'));
      else if (LOADED_AT_USE.test(from)) places.push(`${path}: ${from}`);
    }
  }
  return places;
}

/** Parses only the files in which the rule's words occur: parsing takes most of the time. */
function placesOf(
  file: SourceFile,
  words: RegExp,
  breaks: (node: ts.Node, root: ts.SourceFile) => boolean,
): readonly string[] {
  if (!words.test(file.text)) return [];
  const root = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
  const places: string[] = [];
  const visit = (node: ts.Node): void => {
    if (breaks(node, root)) {
      const { line } = root.getLineAndCharacterOfPosition(node.getStart());
      places.push(`${file.path}:${line + 1}: ${node.getText()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(root);
  return places;
}

function isProcess(node: ts.Node): boolean {
  return ['process', 'globalThis.process'].includes(node.getText());
}

/** The name on the other side: `env` in `{ env as settings }` and in `{ env: settings }`. */
function nameOf(node: ts.ImportSpecifier | ts.BindingElement): string {
  return (node.propertyName ?? node.name).getText();
}

function moduleOf(node: ts.ImportSpecifier): string {
  const { moduleSpecifier } = node.parent.parent.parent;
  return ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : '';
}

function hasDecorator(node: ts.ParameterDeclaration, names: readonly string[]): boolean {
  return (ts.getDecorators(node) ?? []).some(
    ({ expression }) => ts.isCallExpression(expression) && names.includes(expression.expression.getText()),
  );
}

/** Names that exist when the file runs: its own classes and what it imports as values. */
function classesAtRunTime(root: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  for (const statement of root.statements) {
    if (ts.isClassDeclaration(statement) && statement.name) names.add(statement.name.text);
    if (!ts.isImportDeclaration(statement) || statement.importClause?.isTypeOnly !== false) continue;
    const { namedBindings } = statement.importClause;
    if (namedBindings === undefined || !ts.isNamedImports(namedBindings)) continue;
    for (const element of namedBindings.elements) if (!element.isTypeOnly) names.add(element.name.text);
  }
  return names;
}

function filesOf(...folders: readonly string[]): readonly SourceFile[] {
  return (
    folders
      .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && /\.[cm]?[jt]s$/.test(entry.name))
      // test/clients has packages of its own.
      .filter((entry) => !entry.parentPath.includes('node_modules'))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({ path: relative(ROOT, path).replaceAll('\\', '/'), text: readFileSync(path, 'utf8') }))
  );
}

const everything = filesOf('src', 'migrations', 'test');
const shipped = everything.filter(
  ({ path }) => /^(src|migrations)\//.test(path) && !/\.spec\.ts$|\/__fixtures__\//.test(path),
);
const sample = (text: string, path = 'src/sample/sample.controller.ts'): SourceFile => ({ path, text });

it('finds the source tree', () => {
  expect(shipped.map(({ path }) => path)).toEqual(expect.arrayContaining(['src/main.ts', 'src/config/environment.ts']));
});

describe(`no shipped file is longer than ${MAX_LINES} lines`, () => {
  it('keeps every shipped file within the size limit', () => expect(shipped.flatMap(tooLong)).toEqual([]));

  it('detects a file that is too long', () => {
    expect(tooLong(sample('x\n'.repeat(MAX_LINES + 1)))).toHaveLength(1);
    expect(tooLong(sample('x\n'.repeat(MAX_LINES)))).toEqual([]);
  });
});

describe('there are no barrels', () => {
  it('finds no barrel files', () => expect(everything.flatMap(barrel)).toEqual([]));

  it('detects a barrel file', () => {
    expect(barrel(sample('', 'src/rerank/index.ts'))).toHaveLength(1);
    expect(barrel(sample('', 'src/rerank/words-index.ts'))).toEqual([]);
  });
});

describe('the environment is read in src/config and src/main.ts only', () => {
  it('finds no environment access outside src/config and src/main.ts', () =>
    expect(shipped.flatMap(readsEnvironment)).toEqual([]));

  it.each([
    'const port = process.env.PORT;',
    "const port = process.env['PORT'];",
    "const port = process['env'].PORT;",
    'const port = globalThis.process.env.PORT;',
    'const { env: settings } = process;',
    'const settings = process;',
    "import { env as settings } from 'node:process';",
  ])('detects environment access: %s', (text) => {
    expect(readsEnvironment(sample(text))).toHaveLength(1);
    expect(readsEnvironment(sample(text, 'src/config/environment.ts'))).toEqual([]);
  });

  it('allows other uses of the word process', () => {
    const text =
      "// not process.env\nconst { pid } = process; process.on('exit', () => pid); const env = { process: 1 };";
    expect(readsEnvironment(sample(text))).toEqual([]);
  });
});

describe('every @Body() and @Query() parameter has a class at run time', () => {
  const controller = (imports: string, type: string): SourceFile =>
    sample(
      `${imports}\nclass Local {}\nclass C { create(@Id() id: string, @Body() dto: ${type}, @Query() query: Local) {} }`,
    );

  it('finds a class for every @Body() and @Query() parameter', () =>
    expect(shipped.flatMap(unvalidatedParameter)).toEqual([]));

  it('checks the parameters of the real controllers', () => {
    const withoutImports = shipped.map(({ path, text }) => ({
      path,
      text: text.replaceAll(/^import \{/gm, 'import type {'),
    }));
    expect(withoutImports.flatMap(unvalidatedParameter).length).toBeGreaterThan(5);
  });

  it.each([
    ["import type { CreateDto } from './create.dto.js';", 'CreateDto'],
    ["import { type CreateDto } from './create.dto.js';", 'CreateDto'],
    ['interface CreateDto {}', 'CreateDto'],
    ['', 'unknown'],
    ['', '{ name: string }'],
    ['', 'string'],
  ])('detects a parameter without a class at run time: %s %s', (imports, type) => {
    expect(unvalidatedParameter(controller(imports, type))).toEqual([expect.stringContaining('@Body() dto')]);
  });

  it.each([
    ["import { CreateDto } from './create.dto.js';", 'CreateDto'],
    ["import { Other as CreateDto, type Third } from './create.dto.js';", 'CreateDto'],
  ])('accepts parameters with a class: %s %s', (imports, type) => {
    expect(unvalidatedParameter(controller(imports, type))).toEqual([]);
  });
});

describe('every @Matches() says in words what it expects', () => {
  it('finds no @Matches() without a message', () => expect(shipped.flatMap(unexplainedPattern)).toEqual([]));

  it('detects a @Matches() without a message', () => {
    expect(unexplainedPattern(sample('class Dto { @Matches(/^a$/) a: string; }'))).toHaveLength(1);
    expect(unexplainedPattern(sample("class Dto { @Matches(/^a$/, { message: 'a' }) a: string; }"))).toEqual([]);
  });
});

describe('there is no forwardRef and no ModuleRef', () => {
  it('finds no forwardRef and no ModuleRef', () => expect(shipped.flatMap(hiddenDependency)).toEqual([]));

  it.each([
    "import { forwardRef, Module } from '@nestjs/common';",
    "import { forwardRef as later } from '@nestjs/common';",
    "import type { ModuleRef } from '@nestjs/core';",
  ])('detects forwardRef and ModuleRef: %s', (text) => {
    expect(hiddenDependency(sample(text))).toHaveLength(1);
  });

  it('allows forwardRef and ModuleRef in comments', () => {
    expect(
      hiddenDependency(sample("// no forwardRef, no ModuleRef\nimport { Module } from '@nestjs/common';")),
    ).toEqual([]);
  });
});

describe('there is no AbortSignal.any, only abortedWith and withDeadline', () => {
  it('finds no AbortSignal.any', () => expect(shipped.flatMap(weakSignal)).toEqual([]));

  it('detects AbortSignal.any', () => {
    expect(weakSignal(sample('const signal = AbortSignal.any([AbortSignal.timeout(1), other]);'))).toHaveLength(1);
    expect(weakSignal(sample('// no AbortSignal.any\nconst signal = AbortSignal.timeout(1);'))).toEqual([]);
  });
});

describe('a spec that runs once asks no database', () => {
  it('finds no use of the database in a spec that runs once', () => {
    expect(everything.filter(({ path }) => path.endsWith('.once.spec.ts')).length).toBeGreaterThan(20);
    expect(everything.flatMap(databaseInOnceSpec)).toEqual([]);
  });

  it.each([
    'await gateway.app.dataSource.query(sql);',
    'await gateway.books.ledger(1);',
    "await gateway.limit({ type: 'cost' });",
    "import { Client } from 'pg';",
    "import { connect } from 'node:net';",
    "import { makeOwnDatabase } from './support/own-database.js';",
    "import { UsageEvent } from '../src/usage/usage-event.entity.js';",
  ])('detects in a spec that runs once: %s', (text) => {
    expect(databaseInOnceSpec(sample(text, 'test/x.once.spec.ts'))).toHaveLength(1);
    expect(databaseInOnceSpec(sample(text, 'test/x.app.spec.ts'))).toEqual([]);
  });
});

describe('no whole error is logged', () => {
  it('finds no logger call with a whole error', () => expect(shipped.flatMap(loggedWhole)).toEqual([]));

  it.each(["logger.warn({ event: 'x', err: cause });", "logger.warn({ event: 'x', err });"])(
    'detects a logger call with a whole error: %s',
    (text) => {
      expect(loggedWhole(sample(text))).toHaveLength(1);
    },
  );

  it('allows logger calls with a described error', () => {
    const text = "try { x(); } catch (err) { logger.warn({ event: 'x', error: describeDefect(err) }); }";
    expect(loggedWhole(sample(text))).toEqual([]);
  });
});

describe('heavy packages are loaded at their first use', () => {
  const ENTRIES = ['src/main.ts', 'src/app.module.ts'];

  it('loads no heavy package at the start', () => expect(loadedAtStart(shipped, ENTRIES)).toEqual([]));

  it('follows the imports of the real files', () => {
    const later = /import\((['"][^'"]+['"])\)/g;
    const eager = shipped.map(({ path, text }) => ({
      path,
      text: [...text.matchAll(later)].map(([, from]) => `import ${from};\n`).join('') + text,
    }));
    expect(loadedAtStart(eager, ENTRIES).length).toBeGreaterThan(3);
  });

  const main = sample("import { a } from './deep/a.js';", 'src/main.ts');

  it.each([
    "import { Client } from '@modelcontextprotocol/sdk/client/index.js';",
    "import { type Tool, McpError } from '@modelcontextprotocol/sdk/types.js';",
    "import '@azure/identity';",
    "export { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';",
    "import { b } from '../b.js';",
  ])('detects a heavy package that is loaded at the start: %s', (text) => {
    const other = sample("import '@azure/identity';", 'src/b.ts');
    expect(loadedAtStart([main, sample(text, 'src/deep/a.ts'), other], ENTRIES)).toHaveLength(1);
  });

  it.each([
    "import type { Client } from '@modelcontextprotocol/sdk/client/index.js';",
    "const sdk = await import('@azure/identity');",
    "const { b } = await import('../b.js');",
    "import { SignatureV4 } from '@smithy/signature-v4';",
  ])('allows imports that load nothing at the start: %s', (text) => {
    const other = sample("import '@azure/identity';", 'src/b.ts');
    expect(loadedAtStart([main, sample(text, 'src/deep/a.ts'), other], ENTRIES)).toEqual([]);
  });
});
