import { readEnvironmentFile } from './config/environment-file.js';
import { printOnlyJson, tellOperator } from './config/operator-lines.js';
import { messageForOperator } from './common/errors/describe-error.js';

// The gateway keeps running when its output cannot be written.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
try {
  readEnvironmentFile();
  printOnlyJson();
  // Only now: what the libraries print while they are loaded is output too.
  const { start } = await import('./start.js');
  await start();
} catch (error) {
  tellOperator('fatal', 'start_failed', messageForOperator(error));
  process.exit(1);
}
