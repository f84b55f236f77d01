// `npm run check`: every check, also after one has failed, and at the end a list of those that did.
import { spawnSync } from 'node:child_process';

const PARTS = ['format', 'lint', 'types', 'rooms', 'unused', 'dependencies', 'words', 'links', 'openapi'];

const failed = PARTS.filter((part) => {
  console.log(`\n== check:${part}`);
  return spawnSync('npm', ['run', '--silent', `check:${part}`], { stdio: 'inherit' }).status !== 0;
});

console.log(
  failed.length === 0 ? '\nAll checks passed.' : `\nFailed: ${failed.map((part) => `check:${part}`).join(', ')}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
