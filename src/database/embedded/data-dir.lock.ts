import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
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
  const path = join(dataDir, 'gateway.lock');
  const own = `${process.pid} ${startTimeOf(process.pid)}`;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const file = openSync(path, 'wx', 0o600);
      writeSync(file, own);
      closeSync(file);
      return () => rmSync(path, { force: true });
    } catch (error) {
      if (errorCodeOf(error) !== 'EEXIST' || attempt > MAX_TRIES) throw error;
    }
    const lock = readLock(path);
    const holder = liveHolder(lock);
    if (holder !== undefined) throw new DataDirInUseError(dataDir, holder);
    if (lock === '' && attempt < MAX_TRIES) sleep(TIME_TO_WRITE_MS);
    else moveAway(path, lock);
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
 * Takes a dead gateway's lock out of the way. Removing it would not do: of two gateways that take over at once, the slower
 * one would remove the faster one's new lock.
 */
function moveAway(path: string, dead: string | undefined): void {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return;
    throw error;
  }
  if (readLock(aside) === dead) rmSync(aside);
  else renameSync(aside, path);
}

/** The pid in a lock, when that very process still runs. A pid alone is not enough: it may have been given out again. */
function liveHolder(lock: string | undefined): number | undefined {
  const [pidText = '', startTime = ''] = lock?.split(' ') ?? [];
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
