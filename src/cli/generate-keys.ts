import { randomBytes } from 'node:crypto';
import { generateApiKey } from '../api-keys/api-key-format.js';
import { type CommandCall, UsageError } from './command.js';

export async function generateKeys({ words, print }: CommandCall): Promise<number> {
  if (words.length > 0) throw new UsageError('usage: npm run keys:generate, which takes no arguments');
  // Lines of an env file and nothing else, so that the output can be appended to one.
  print(`TOLLGATE_ADMIN_KEY=${generateApiKey()}\n`);
  print(`TOLLGATE_ENCRYPTION_KEY=${randomBytes(32).toString('base64')}\n`);
  return 0;
}
