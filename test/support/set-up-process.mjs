import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import setUpApp from './set-up-app.mjs';

const BUILD = fileURLToPath(new URL('../../scripts/build.mjs', import.meta.url));

/** The built gateway and commands, and what the other specs with a database need. */
export default async function setUpProcess(config) {
  const { status } = spawnSync(process.execPath, [BUILD, '--if-stale'], { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('the gateway could not be built');
  await setUpApp(config);
}
