// `npm start`: builds when needed, then runs the gateway in this process, with which `exec` replaces npm's shell. So signals
// reach the gateway, and its exit code is that of npm.
import { buildIfStale } from './build.mjs';

try {
  await buildIfStale();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
await import('../dist/src/main.js');
