import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { wrapError } from '../../common/errors/describe-error.js';
import { DATABASE_FOLDER } from '../../config/encryption-key-file.js';
import { tellOperator } from '../../config/operator-lines.js';
import { DataDirInUseError, lockDataDir } from './data-dir.lock.js';

/** A Unix socket's path may hold 107 bytes (unix(7)). */
const MAX_SOCKET_PATH_BYTES = 107;
const SOCKET_NAME = '.s.PGSQL.5432';
/** All connections share one session: what a second one sets (`pg_dump` does) would be set for the first one too. */
const MAX_CONNECTIONS = 1;
const TAKEN_OVER =
  'another gateway has taken over its folder, since this one showed no sign of life for seconds. Two would damage it';

export interface EmbeddedDatabase {
  /** Folder that holds the socket: the `host` of a PostgreSQL connection. */
  readonly socketDir: string;
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL (PGlite) on a folder, in a worker thread behind a Unix socket.
 * @throws DataDirInUseError when another process has the folder open
 */
export async function startEmbeddedDatabase(
  dataDir: string,
  onCrash: (cause: Error) => void = () => undefined,
): Promise<EmbeddedDatabase> {
  const root = resolve(dataDir);
  const unlock = takeDataDir(root, () => onCrash(new Error(TAKEN_OVER)));
  try {
    const socketDir = makeSocketDir(root);
    const worker = await startWorker(join(root, DATABASE_FOLDER), join(socketDir, SOCKET_NAME));
    let stopping = false;
    worker.on('error', onCrash);
    worker.on('exit', () => {
      if (!stopping) onCrash(new Error('the embedded database has stopped'));
    });
    return {
      socketDir,
      stop: async () => {
        stopping = true;
        await stopWorker(worker);
        rmSync(socketDir, { recursive: true, force: true });
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Whether a database was ever started on the folder. */
export function hasEmbeddedDatabase(dataDir: string): boolean {
  return existsSync(join(dataDir, DATABASE_FOLDER));
}

function takeDataDir(root: string, onLost: () => void): () => void {
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    return lockDataDir(root, onLost);
  } catch (cause) {
    if (cause instanceof DataDirInUseError) throw cause;
    throw wrapError(`The folder of DATA_DIR, ${root}, cannot be used`, cause);
  }
}

function makeSocketDir(root: string): string {
  const preferred = join(root, 'run');
  if (Buffer.byteLength(join(preferred, SOCKET_NAME)) > MAX_SOCKET_PATH_BYTES)
    return mkdtempSync(join(tmpdir(), 'tollgate-'));
  // A socket that a killed process left behind would refuse the new one.
  rmSync(preferred, { recursive: true, force: true });
  mkdirSync(preferred, { mode: 0o700 });
  return preferred;
}

async function startWorker(dataDir: string, socketPath: string): Promise<Worker> {
  const worker = new Worker(new URL('./pglite.worker.js', import.meta.url), {
    workerData: { dataDir, socketPath, maxConnections: MAX_CONNECTIONS },
    execArgv: [],
  });
  await new Promise<void>((ready, fail) => {
    worker.once('message', () => ready());
    worker.once('error', (cause) =>
      fail(
        new Error(
          `The embedded database in ${dataDir} could not be opened: the disk may be full, or the folder damaged.`,
          { cause },
        ),
      ),
    );
    worker.once('exit', () => fail(new Error(`The embedded database in ${dataDir} could not be opened.`)));
  });
  worker.removeAllListeners();
  return worker;
}

async function stopWorker(worker: Worker): Promise<void> {
  await new Promise<void>((done) => {
    worker.once('exit', () => done());
    worker.postMessage('stop');
  });
}

/** Without its database a program is of no use, and PGlite cannot be restarted safely within the process. */
export function endOnCrash(cause: Error): void {
  tellOperator('fatal', 'database_crashed', `The embedded database has failed: ${cause.message}`);
  process.exit(1);
}
