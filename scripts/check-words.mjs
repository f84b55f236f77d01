// `npm run check:words`: finds words and phrases that make our texts hard to read, and names the word to use instead.
// Markdown is read without its code; in other files only comments, strings of three words or more and test titles are
// read. With arguments, only these files and folders are read: `npm run check:words -- src/usage`. See docs/style.md.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

// Files and folders that are read when no argument is given.
const CHECKED = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  '.env.example',
  'docs',
  'examples',
  'bench',
  'migrations',
  'scripts',
  'src',
  'test',
];

const WORDS = [
  [/\b(is|are|be|being) told\b/i, '"receives", "is sent" or "is reported"'],
  [/\btells?\b/i, '"returns", "reports", "shows" or "says"'],
  [/\banew\b/i, '"again"'],
  [/\bas ever\b/i, 'nothing, or "as before"'],
  [/\bfor ever\b/i, '"without a limit" or "never ends"'],
  [/\bwhoever\b/i, '"anyone who", or the subject itself'],
  [/\b(nobody|anybody|somebody)\b/i, 'the subject itself: "no caller", "no request", "anyone"'],
  [/\bunder way\b/i, '"in flight" or "in progress"'],
  [/\bblanks\b/i, '"spaces"'],
  [/\bthe way of\b/i, '"the path of"'],
  [/\b(is|are|be|been) answered (by|with|as|in)\b/i, '"returns", with the route or the gateway as the subject'],
  [/\bbehind (the|their|its) \w+'?s?'? backs?\b/i, '"asynchronously" or "after the answer"'],
  [/\b(be|is|are) (to be )?had\b/i, '"can be read" or "can be fetched"'],
  [/\bgo(es)? (along|before)\b/i, '"is sent too", "takes precedence over" or "comes before"'],
  [/\bby way of\b/i, '"through" or "with"'],
  [/\bfor want of\b/i, '"without" or "because there is no"'],
  [/\b(is|are|was|were) felt\b/i, '"takes effect"'],
  [/\bsift(s|ed|ing)?\b/i, '"filter"'],
  [/\bpass(es|ed)? over\b/i, '"ignore" or "skip"'],
  [/\bin the place of\b/i, '"instead of"'],
  [/(?<!there )\b(is|are|was|were) no (?!longer\b|more\b|other\b|one\b)/i, '"is not" or "is not a"'],
  [/\bvendors?\b/i, '"provider"'],
];
const ONLY_THE_SAME = [/^\s*the same\.?\s*$/i, 'what is the same, and why'];
const TITLE_WITH_WHAT = [/^what\b/i, 'a sentence with a subject and a verb'];

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', '__fixtures__', 'coverage']);
const CODE_FILE = /\.(ts|js|mjs|cjs|sql)$/;

// Comments, of which neighbouring lines belong together; then strings, with the call of a test before them where there is one.
// A regular expression with a quote in it can hide the rest of its line, which is harmless here.
const CODE_PARTS =
  /(\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*|(?<!\S)-- [^\n]*|\/\*[\s\S]*?\*\/)|(\b(?:it|test|describe)(?:\.\w+(?:\([^\n]*?\))?)*\(\s*)?('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)/g;

const given = process.argv.slice(2);
const files = (given.length > 0 ? given : CHECKED).flatMap(filesOf);
const hits = files.flatMap(hitsOf);
for (const { file, line, found, instead } of hits) console.log(`${file}:${line}: "${found}": write ${instead}`);
console.log(hits.length === 0 ? 'No hits in the checked files.' : `${hits.length} hits. See docs/style.md.`);
process.exitCode = hits.length === 0 ? 0 : 1;

function filesOf(path) {
  const absolute = join(ROOT, path);
  const found = statSync(absolute, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (found.isFile()) return [absolute];
  return readdirSync(absolute, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return SKIPPED_FOLDERS.has(entry.name) ? [] : filesOf(join(path, entry.name));
    return CODE_FILE.test(entry.name) || entry.name.endsWith('.md') ? [join(absolute, entry.name)] : [];
  });
}

function hitsOf(path) {
  const text = readFileSync(path, 'utf8');
  const file = relative(ROOT, path);
  const found = textsOf(file, text).flatMap(({ offset, content, kind }) =>
    rulesOf(kind).flatMap(([pattern, instead]) =>
      [...content.matchAll(acrossLines(pattern))].map((match) => ({ at: offset + match.index, match, instead })),
    ),
  );
  return found
    .sort((one, other) => one.at - other.at)
    .map(({ at, match: [words], instead }) => {
      return { file, line: text.slice(0, at).split('\n').length, found: words.trim().replace(/\s+/g, ' '), instead };
    });
}

function rulesOf(kind) {
  if (kind === 'title') return [...WORDS, TITLE_WITH_WHAT];
  return kind === 'comment' ? [...WORDS, ONLY_THE_SAME] : WORDS;
}

/** A phrase may be broken by the end of a line. */
function acrossLines({ source, flags }) {
  return new RegExp(source.replaceAll(' ', '\\s+'), `${flags}g`);
}

/** The parts of a file that people read, each with its place in the file. Characters that are not text become spaces. */
function textsOf(file, text) {
  if (file.endsWith('.md')) return [{ offset: 0, content: withoutMarkdownCode(text), kind: 'prose' }];
  if (!CODE_FILE.test(file)) {
    const content = text.replace(/^[^#].*$/gm, spaces).replace(/^#/gm, ' ');
    return [{ offset: 0, content, kind: 'prose' }];
  }
  return [...text.matchAll(CODE_PARTS)].flatMap(({ index, 1: comment, 2: call, 3: string }) => {
    if (comment !== undefined) {
      const content = comment.replace(/`[^`\n]*`/g, spaces).replace(/^[ \t]*(\/\/|\/?\*+|--)|\*\/$/gm, spaces);
      return [{ offset: index, content, kind: 'comment' }];
    }
    // Strings of one or two words are names and keys, and belong to no sentence.
    if (string.split(' ').length < 3) return [];
    const offset = index + (call?.length ?? 0) + 1;
    return [{ offset, content: string.slice(1, -1), kind: call === undefined ? 'string' : 'title' }];
  });
}

// Code, addresses of links and HTML comments.
function withoutMarkdownCode(text) {
  return text
    .replace(/^ *```[\s\S]*?^ *```/gm, spaces)
    .replace(/`[^`\n]*`/g, spaces)
    .replace(/\]\([^)\n]*\)/g, spaces)
    .replace(/<!--[\s\S]*?-->/g, spaces);
}

function spaces(text) {
  return text.replace(/[^\n]/g, ' ');
}
