// `npm start`: builds when needed, then runs the gateway in this very process, which `exec` puts in the place of npm's shell: so
// that signals reach it and its exit code is ours.
import { buildIfStale } from './build.mjs';

try {
  await buildIfStale();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
await import('../dist/src/main.js');
