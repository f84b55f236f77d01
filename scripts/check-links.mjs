// `npm run check:links`: every link between our Markdown files leads to a file and a heading, and every path in code that
// begins with a folder of ours exists. Links to other sites are not checked.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const FOLDERS = ['docs', 'examples', 'bench'];
// Paths with a placeholder (`<slug>`, a file of a new provider named x) are skipped.
const PATH_IN_CODE = /`((?:src|docs|migrations|scripts|test|bench|examples)\/[\w./-]*)`/g;
const PLACEHOLDER = /(^|\/)x[.-]/;

const files = [...markdownIn('.', false), ...FOLDERS.flatMap((folder) => markdownIn(folder, true))];
const problems = files.flatMap(problemsOf);
for (const problem of problems) console.log(problem);
console.log(`${files.length} files, ${problems.length} broken links and paths`);
process.exitCode = problems.length === 0 ? 0 : 1;

function markdownIn(folder, isDeep) {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return isDeep ? markdownIn(path, true) : [];
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

function problemsOf(file) {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target)
    .filter((target) => !/^\w+:/.test(target));
  const paths = [...text.matchAll(PATH_IN_CODE)].map(([, path]) => path).filter((path) => !PLACEHOLDER.test(path));
  return [
    ...links
      .filter((target) => !leadsSomewhere(file, target))
      .map((target) => `${file}: no such file or heading: ${target}`),
    ...paths.filter((path) => !existsSync(join(ROOT, path))).map((path) => `${file}: no such path: ${path}`),
  ];
}

function leadsSomewhere(file, target) {
  const [path, heading] = target.split('#');
  const wanted = path === '' ? file : relative(ROOT, join(ROOT, dirname(file), path));
  if (!existsSync(join(ROOT, wanted))) return false;
  return heading === undefined || headingsOf(wanted).has(heading);
}

/** As GitHub makes them: lower case, without punctuation, dashes for spaces. */
function headingsOf(file) {
  const headings = readFileSync(join(ROOT, file), 'utf8').matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, text]) =>
      text
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
}
