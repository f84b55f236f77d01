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

/** Takes the lock file of a data folder and returns how to give it back. A lock whose process is gone is taken over. */
export function lockDataDir(dataDir: string): () => void {
  const path = join(dataDir, 'gateway.lock');
  const own = `${process.pid} ${startTimeOf(process.pid)}`;
  for (let attempt = 0; ; attempt += 1) {
    try {
      const file = openSync(path, 'wx', 0o600);
      writeSync(file, own);
      closeSync(file);
      return () => rmSync(path, { force: true });
    } catch (error) {
      if (errorCodeOf(error) !== 'EEXIST' || attempt > 3) throw error;
    }
    const holder = liveHolder(path);
    if (holder !== undefined) throw new DataDirInUseError(dataDir, holder);
    rmSync(path, { force: true });
  }
}

/** The pid in the lock file, when that very process still runs. A pid alone is not enough: it may have been given out again. */
function liveHolder(path: string): number | undefined {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
  const [pidText = '', startTime = ''] = content.split(' ');
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
