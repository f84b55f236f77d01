import { randomBytes } from 'node:crypto';
import { generateApiKey } from '../api-keys/api-key-format.js';

// Lines of an env file and nothing else, so that the output can be appended to one.
process.stdout.write(`TOLLGATE_ADMIN_KEY=${generateApiKey()}\n`);
process.stdout.write(`TOLLGATE_ENCRYPTION_KEY=${randomBytes(32).toString('base64')}\n`);
