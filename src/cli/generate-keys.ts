import { randomBytes } from 'node:crypto';
import { generateApiKey } from '../api-keys/api-key-format.js';
import { exitWithError } from './fail.js';

// The reader of the output may stop early (`| head`).
process.stdout.on('error', () => undefined);

if (process.argv.length > 2) exitWithError('usage: npm run keys:generate, which takes no arguments', 2);
else {
  // Lines of an env file and nothing else, so that the output can be appended to one.
  process.stdout.write(`TOLLGATE_ADMIN_KEY=${generateApiKey()}\n`);
  process.stdout.write(`TOLLGATE_ENCRYPTION_KEY=${randomBytes(32).toString('base64')}\n`);
}
