import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodeOf } from '../../common/errors/error-code-of.js';

/** Another process has this data folder open. Two at once would lose rows without a word. */
export class DataDirInUseError extends Error {
  constructor(dataDir: string, pid: number) {
    super(
      `The data folder ${dataDir} is in use by another gateway (process ${pid}). ` +
        'Stop it first, choose another DATA_DIR, or set DATABASE_URL to share one PostgreSQL between gateways.',
    );
    this.name = 'DataDirInUseError';
  }
}

const MAX_TRIES = 5;
/** A lock is written right after it is made; one that stays empty for all tries is a killed process's. */
const TIME_TO_WRITE_MS = 20;

/** Takes the lock file of a data folder and returns how to give it back. A lock whose process is gone is taken over. */
export function lockDataDir(dataDir: string): () => void {
  return acquire(join(dataDir, 'gateway.lock'), dataDir);
}

function acquire(path: string, dataDir: string): () => void {
  for (let attempt = 1; ; attempt += 1) {
    if (create(path, attempt)) return () => rmSync(path, { force: true });
    const lock = readLock(path);
    if (lock === undefined) continue;
    const holder = liveHolder(lock);
    if (holder !== undefined) throw new DataDirInUseError(dataDir, holder);
    if (lock === '' && attempt < MAX_TRIES) sleep(TIME_TO_WRITE_MS);
    else removeDead(path, lock, dataDir);
  }
}

/** Makes the lock; false when there is one. Throws on the last try: somebody else gets in between again and again. */
function create(path: string, attempt: number): boolean {
  try {
    const file = openSync(path, 'wx', 0o600);
    writeSync(file, `${process.pid} ${startTimeOf(process.pid)}`);
    closeSync(file);
    return true;
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST' || attempt > MAX_TRIES) throw error;
    return false;
  }
}

/** The content of a lock; undefined when it has just been given back. */
function readLock(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Removes a dead gateway's lock, one process at a time and only while it is the same lock: of two gateways that start
 * together, the slower one would otherwise remove the faster one's new lock.
 */
function removeDead(path: string, dead: string, dataDir: string): void {
  const release = acquire(`${path}.takeover`, dataDir);
  try {
    if (dead === '') sleep(TIME_TO_WRITE_MS);
    if (readLock(path) === dead) rmSync(path, { force: true });
  } finally {
    release();
  }
}

/** The pid in a lock, when that very process still runs. A pid alone is not enough: it may have been given out again. */
function liveHolder(lock: string): number | undefined {
  const [pidText = '', startTime = ''] = lock.split(' ');
  const pid = Number(pidText);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  if (!isRunning(pid)) return undefined;
  return startTimeOf(pid) === startTime ? pid : undefined;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCodeOf(error) === 'EPERM';
  }
}

/** Field 22 of /proc/<pid>/stat (proc(5)); a constant where there is no /proc, so that the pid alone decides. */
function startTimeOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? 'unknown';
  } catch {
    return 'unknown';
  }
}

function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
