// `npm start`: builds when needed, then runs the gateway in this process, with which `exec` replaces npm's shell. So signals
// reach the gateway, and its exit code is that of npm.
import { buildConsoleIfStale } from './build-console.mjs';
import { buildIfStale } from './build.mjs';

try {
  const isWanted = process.env['CONSOLE'] !== 'off';
  await Promise.all([buildIfStale(), isWanted && buildConsoleIfStale()]);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
await import('../dist/src/main.js');
