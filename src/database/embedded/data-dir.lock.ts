import { readFileSync, readlinkSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { errorCodeOf } from '../../common/errors/describe-error.js';

/** Another process has this data folder open. Two at once would lose rows without a word. */
export class DataDirInUseError extends Error {
  constructor(dataDir: string, holder: string) {
    super(
      `The data folder ${dataDir} is in use by another gateway (${holder}). ` +
        'Stop it first, choose another DATA_DIR, or set DATABASE_URL to share one PostgreSQL between gateways.',
    );
    this.name = 'DataDirInUseError';
  }
}

const MAX_TRIES = 5;
/** A lock is written right after it is made; one that stays empty for all tries is a killed process's. */
const TIME_TO_WRITE_MS = 20;
/** How often the holder of a lock shows that it lives, to those who cannot see its process. */
const BEAT_MS = 1_000;
/** A holder in another container or on another machine that shows nothing for so long is taken for dead. */
const SILENCE_MS = 5_000;
const LOOK_MS = 100;
const PLACE = placeOfProcesses();
/** What this process writes into its locks. */
const OWN = `${process.pid} ${startTimeOf(process.pid)} ${PLACE}`;

/**
 * Takes the lock file of a data folder and returns how to give it back. A lock whose process is gone is taken over.
 * @param onLost called once when another gateway has taken over: this one showed no sign of life for too long
 */
export function lockDataDir(dataDir: string, onLost: () => void = () => undefined): () => void {
  const path = join(dataDir, 'gateway.lock');
  const release = acquire(path, dataDir);
  const beat = setInterval(() => {
    if (!isSomebodyElses(path)) return touch(path);
    clearInterval(beat);
    onLost();
  }, BEAT_MS).unref();
  return () => {
    clearInterval(beat);
    release();
  };
}

function acquire(path: string, dataDir: string): () => void {
  for (let attempt = 1; ; attempt += 1) {
    if (create(path, attempt)) return () => giveBack(path);
    const lock = readLock(path);
    if (lock === undefined) continue;
    const holder = liveHolder(lock, path);
    if (holder !== undefined) throw new DataDirInUseError(dataDir, holder);
    if (lock === '' && attempt < MAX_TRIES) sleep(TIME_TO_WRITE_MS);
    else removeDead(path, lock, dataDir);
  }
}

/** Makes the lock; false when there is one. Throws on the last try: another process gets in between again and again. */
function create(path: string, attempt: number): boolean {
  try {
    writeFileSync(path, OWN, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST' || attempt > MAX_TRIES) throw error;
    return false;
  }
}

function giveBack(path: string): void {
  if (!isSomebodyElses(path)) rmSync(path, { force: true });
}

/** After this process was paused, with its container for one. A lock that cannot be read has no owner yet. */
function isSomebodyElses(path: string): boolean {
  try {
    return (readLock(path) ?? OWN) !== OWN;
  } catch {
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

/**
 * Who holds a lock; undefined when that very process runs no more. A pid alone is not enough: it may have been given out
 * again. And it says nothing in another container or on another machine: what counts from there is the sign of life.
 */
function liveHolder(lock: string, path: string): string | undefined {
  const [pidText = '', startTime = '', place = PLACE] = lock.split(' ');
  const pid = Number(pidText);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  if (place !== PLACE) return isTouched(path) ? `process ${pid} of another container or machine` : undefined;
  return isRunning(pid) && startTimeOf(pid) === startTime ? `process ${pid}` : undefined;
}

/** Watches a lock until its holder shows a sign of life or gives it back, or has shown none for too long. */
function isTouched(path: string): boolean {
  const before = touchedAt(path);
  for (let waited = 0; waited < SILENCE_MS; waited += LOOK_MS) {
    sleep(LOOK_MS);
    const now = touchedAt(path);
    if (now !== before) return now !== undefined;
  }
  return false;
}

function touch(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // Nothing else depends on it, and the database says by itself when its folder is gone.
  }
}

/** Milliseconds; undefined when there is no lock. */
function touchedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCodeOf(error) === 'EPERM';
  }
}

/**
 * Fields 22 and 3 of /proc/<pid>/stat (proc(5)): a process that was killed is a zombie until its parent has noticed. A
 * constant where there is no /proc, so that the pid alone decides.
 */
function startTimeOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return 'ZX'.includes(state) ? 'ended' : (fields[18] ?? 'unknown');
  } catch {
    return 'unknown';
  }
}

/** Where ids of processes mean the same: one boot of a machine (random(4)), and on it one container (pid_namespaces(7)). */
function placeOfProcesses(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
