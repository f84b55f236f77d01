import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ADMIN_KEY } from './test-app.js';

const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));

export interface BuiltGateway {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  close(): Promise<void>;
}

/** The gateway as it is shipped, in a process of its own with an empty embedded database. Its key is ADMIN_KEY. */
export async function startBuiltGateway(): Promise<BuiltGateway> {
  if (!existsSync(MAIN)) throw new Error('dist/ is missing: run "node scripts/build.mjs" first ("npm test" does)');
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-built-'));
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      TOLLGATE_ADMIN_KEY: ADMIN_KEY,
    },
  });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  return {
    url: await addressOf(child),
    close: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The address that the gateway prints when it is ready. */
function addressOf(child: ChildProcessWithoutNullStreams): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const url = /listens on (http:\S+)/.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', () => reject(new Error(`the gateway did not start: ${output}`)));
  });
}
