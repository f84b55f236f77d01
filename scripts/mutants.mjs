// Mutation testing of the folders where a silent bug costs most: does a spec fail when one line of the code is wrong?
//   node scripts/mutants.mjs choose 60 > mutants.json     picks 60 mutants, the same ones for the same sources
//   node scripts/mutants.mjs run mutants.json > result.json   applies each, runs the specs concerned, restores the file
//   node scripts/mutants.mjs compare before.json after.json   lists those that died before and survive after
// A mutant is kept as text, so that it can be applied to another commit whose line is still the same.
// "run" changes files of the working tree: use a clean checkout, and stop it with SIGINT, which restores the file.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** How many of 60 each folder gets, and the specs elsewhere that concern it, beside the specs in the folder. */
const FOLDERS = [
  {
    path: 'src/usage',
    share: 18,
    specs: /^test\/(usage-limits|usage-settlement|usage-report|usage-race|price-import)[^/]*\.spec\.ts$/,
  },
  {
    path: 'src/gateway',
    share: 14,
    specs:
      /^test\/(rerank|relay-routes|isolation[^/]*|stream-billing|usage-settlement|rerank-tracing|model-route-failover)\.(app|once)\.spec\.ts$/,
  },
  {
    path: 'src/mcp/inspection',
    share: 12,
    specs: /^test\/mcp-(tool-lists|tool-changes|tracing|gateway)[^/]*\.spec\.ts$/,
  },
  {
    path: 'src/identity/headers',
    share: 6,
    specs: /^(test\/mcp-(spoof|identity)|src\/identity\/config\/)[^/]*\.spec\.ts$/,
  },
  {
    path: 'src/sealing',
    share: 10,
    specs: /^test\/(key-rotation|virtual-keys|mapped-resources)[^/]*\.spec\.ts$/,
  },
];
const OPERATORS = new Map([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.PlusToken, '-'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.AsteriskToken, '/'],
]);

const [command, ...args] = process.argv.slice(2);
if (command === 'choose') console.log(JSON.stringify(choose(Number(args[0] ?? 60)), undefined, 1));
else if (command === 'run') console.log(JSON.stringify(run(readJson(args[0])), undefined, 1));
else if (command === 'compare') process.exitCode = compare(readJson(args[0]), readJson(args[1]));
else throw new Error('say choose, run or compare');

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function choose(count) {
  const total = FOLDERS.reduce((sum, { share }) => sum + share, 0);
  return FOLDERS.flatMap(({ path, share }) => {
    const all = sourcesIn(path).flatMap(mutantsOf);
    // By digest: spread over files and kinds, and the same ones every time.
    all.sort((one, other) => (one.id < other.id ? -1 : 1));
    return all.slice(0, Math.round((share * count) / total));
  });
}

function filesIn(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

function sourcesIn(folder) {
  return filesIn(folder).filter(
    (file) => file.endsWith('.ts') && !/\.(spec|entity|module|response|types|dto|query)\.ts$|__fixtures__/.test(file),
  );
}

function mutantsOf(file) {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const add = (node, replacement) => {
    const start = node.getStart(source);
    // The line and its neighbours find the place again, also when the file has grown.
    const from = text.lastIndexOf('\n', Math.max(0, text.lastIndexOf('\n', start) - 1)) + 1;
    const end = text.indexOf('\n', node.end);
    const original = text.slice(from, end);
    if (text.split(original).length !== 2) return;
    const mutated = text.slice(from, start) + replacement + text.slice(node.end, end);
    const id = createHash('sha256').update(`${file}\n${original}\n${mutated}`).digest('hex').slice(0, 12);
    found.push({ id, file, line: source.getLineAndCharacterOfPosition(start).line + 1, original, mutated });
  };
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isDecorator(node) || ts.isImportDeclaration(node)) return;
    if (ts.isBinaryExpression(node) && OPERATORS.has(node.operatorToken.kind)) {
      add(node.operatorToken, OPERATORS.get(node.operatorToken.kind));
    }
    if (ts.isIfStatement(node)) add(node.expression, 'false');
    if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) {
      if (node.expression.expression.kind !== ts.SyntaxKind.SuperKeyword) add(node, 'void 0;');
    }
    if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, 'false');
    if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, 'true');
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** In stages, the quickest first: the file's own spec, unit specs of its folder, the others there, and the specs elsewhere. */
function specsFor(file) {
  const folder = FOLDERS.find(({ path }) => file.startsWith(`${path}/`));
  const near = filesIn(folder.path).filter((spec) => spec.endsWith('.spec.ts'));
  const own = near.filter((spec) => spec.startsWith(file.replace(/ts$/, '')));
  const others = near.filter((spec) => !own.includes(spec));
  const isWhole = (spec) => /\.(app|once|process)\.spec\.ts$/.test(spec);
  const elsewhere = [...filesIn('src'), ...filesIn('test')].filter((spec) => folder.specs.test(spec));
  const stages = [own, others.filter((spec) => !isWhole(spec)), others.filter(isWhole), elsewhere];
  return stages.filter((specs) => specs.length > 0);
}

function run(mutants) {
  // Without a listener, SIGINT would end this process before the file is restored. It reaches jest as well: see `passes`.
  process.on('SIGINT', () => undefined);
  // With a spec that fails by itself, every mutant would seem to die.
  for (const { path } of FOLDERS) {
    const one = mutants.find(({ file }) => file.startsWith(`${path}/`));
    if (one !== undefined && !specsFor(one.file).every(passes))
      throw new Error(`a spec of ${path} fails without a mutant`);
  }
  return mutants.map((mutant, index) => {
    const path = join(ROOT, mutant.file);
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    if (text.split(mutant.original).length !== 2) return { ...mutant, state: 'gone' };
    const restore = () => writeFileSync(path, text);
    process.once('exit', restore);
    let state = 'survived';
    try {
      writeFileSync(
        path,
        text.replace(mutant.original, () => mutant.mutated),
      );
      if (specsFor(mutant.file).some((specs) => !passes(specs))) state = 'killed';
    } finally {
      restore();
      process.off('exit', restore);
    }
    console.error(`${index + 1}/${mutants.length} ${state} ${mutant.file}:${mutant.line}`);
    return { ...mutant, state };
  });
}

function passes(specs) {
  const options = ['--bail', '--silent', '--maxWorkers=1', '--runTestsByPath', ...specs];
  const finished = spawnSync(process.execPath, [join(ROOT, 'node_modules/jest/bin/jest.js'), ...options], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: Infinity,
    timeout: 600_000,
  });
  if (finished.signal === 'SIGINT') process.exit(130);
  // A mutant that dies of a test that has nothing to do with it has not died.
  for (const [line] of finished.stderr.matchAll(/^ +● .*/gm)) console.error(line);
  return finished.status === 0;
}

function compare(before, after) {
  const later = new Map(after.map((mutant) => [mutant.id, mutant.state]));
  const count = (list, state) => list.filter((mutant) => mutant.state === state).length;
  for (const [name, list] of Object.entries({ before, after })) {
    console.log(
      `${name}: ${count(list, 'killed')} killed, ${count(list, 'survived')} survived, ${count(list, 'gone')} gone`,
    );
  }
  const lost = before.filter(({ id, state }) => state === 'killed' && later.get(id) === 'survived');
  for (const { file, line } of lost) console.log(`died before, survives after: ${file}:${line}`);
  return lost.length > 0 ? 1 : 0;
}
