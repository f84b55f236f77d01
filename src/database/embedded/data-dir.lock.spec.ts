import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { DataDirInUseError, lockDataDir } from './data-dir.lock.js';

let dataDir: string;
let lockFile: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'tollgate-lock-'));
  lockFile = join(dataDir, 'gateway.lock');
});

afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

async function startProcess(): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
  await once(child, 'spawn');
  return startedOf(child);
}

function startedOf(child: ChildProcess): ChildProcess & { readonly pid: number } {
  const { pid } = child;
  if (pid === undefined) throw new Error('the process has no id');
  return Object.assign(child, { pid });
}

/** A gateway whose process this one cannot see: only the file shows that it lives. */
async function startElsewhere(): Promise<ChildProcess & { readonly pid: number }> {
  writeFileSync(lockFile, ELSEWHERE);
  const script = `setInterval(() => fs.utimesSync(${JSON.stringify(lockFile)}, new Date(), new Date()), 1000)`;
  const child = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  await once(child, 'spawn');
  return startedOf(child);
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Of the first process of another container: this one has a process of that id as well. */
const ELSEWHERE = '1 5 0b7e6a5e-0000-4000-8000-3a1d5c0f9e11/pid:[4026532198]';
const HAS_PROC = existsSync('/proc/self/stat');

/** Field 22 of /proc/<pid>/stat: when the process began, in ticks. */
function startTimeOf(pid: number): string {
  if (!HAS_PROC) return 'unknown';
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

function triedLock(): 'taken' | 'in use' {
  try {
    lockDataDir(dataDir)();
    return 'taken';
  } catch (error) {
    if (error instanceof DataDirInUseError) return 'in use';
    throw error;
  }
}

/** Where the ids of processes in a lock mean something: its third part. */
function ownPlace(): string {
  const unlock = lockDataDir(dataDir);
  const place = readFileSync(lockFile, 'utf8').split(' ')[2];
  unlock();
  return place ?? '';
}

it('holds the folder until the lock is released', () => {
  const unlock = lockDataDir(dataDir);
  expect(() => lockDataDir(dataDir)).toThrow(DataDirInUseError);
  unlock();
  expect(readdirSync(dataDir)).toEqual([]);
  lockDataDir(dataDir)();
});

it('says which folder is in use, and by which process', () => {
  lockDataDir(dataDir);
  expect(() => lockDataDir(dataDir)).toThrow(dataDir);
  expect(() => lockDataDir(dataDir)).toThrow(`process ${process.pid}`);
});

it('fails on a folder that does not exist', () => {
  expect(() => lockDataDir(join(dataDir, 'missing'))).toThrow(/ENOENT/);
});

describe('a lock that another process left', () => {
  it.each([false, true])('respects a lock while its process runs (of an older gateway: %j)', async (isOld) => {
    const other = await startProcess();
    const lock = `${other.pid} ${startTimeOf(other.pid)}`;
    const place = ownPlace();
    writeFileSync(lockFile, isOld ? lock : `${lock} ${place}`);
    expect(() => lockDataDir(dataDir)).toThrow(`process ${other.pid}`);
    expect(existsSync(lockFile)).toBe(true);
    await end(other);
  });

  it('takes over the lock of a process that was killed', async () => {
    const other = await startProcess();
    writeFileSync(lockFile, `${other.pid} ${startTimeOf(other.pid)}`);
    await end(other);
    lockDataDir(dataDir);
    expect(readFileSync(lockFile, 'utf8')).toContain(`${process.pid} ${startTimeOf(process.pid)} `);
  });

  it('takes over the lock of a killed process whose parent has not reaped it yet, where that can be seen', async () => {
    // The shell becomes a program that knows nothing of a child.
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = await once(parent.stdout, 'data');
    const pid = Number(String(line));
    // While it still is a shell, it reaps the child.
    await eventually(() => !HAS_PROC || readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n');
    writeFileSync(lockFile, `${pid} ${startTimeOf(pid)}`);
    expect(() => lockDataDir(dataDir)).toThrow(`process ${pid}`);
    process.kill(pid, 'SIGKILL');
    await eventually(() => !HAS_PROC || /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
    expect(triedLock()).toBe(HAS_PROC ? 'taken' : 'in use');
    await end(parent);
  });

  it('takes over a lock whose process id belongs to another process now', async () => {
    const other = await startProcess();
    writeFileSync(lockFile, `${other.pid} 1`);
    const unlock = lockDataDir(dataDir);
    expect(readFileSync(lockFile, 'utf8')).toContain(`${process.pid} `);
    unlock();
    await end(other);
  });

  it.each(['', 'not a lock', '-1 5', '0 5', '1e99 5', ' \n'])('takes over a damaged lock: %j', (content) => {
    writeFileSync(lockFile, content);
    lockDataDir(dataDir);
    expect(readFileSync(lockFile, 'utf8')).toContain(`${process.pid} `);
    expect(readdirSync(dataDir)).toEqual(['gateway.lock']);
  });

  it('leaves a lock to the process that is just taking it over', async () => {
    const other = await startProcess();
    writeFileSync(lockFile, '999999999 5');
    writeFileSync(`${lockFile}.takeover`, `${other.pid} ${startTimeOf(other.pid)}`);
    expect(() => lockDataDir(dataDir)).toThrow(`process ${other.pid}`);
    expect(readFileSync(lockFile, 'utf8')).toBe('999999999 5');
    await end(other);
    lockDataDir(dataDir);
    expect(readdirSync(dataDir)).toEqual(['gateway.lock']);
  });

  it('respects a lock that a process in another container touches', async () => {
    const other = await startElsewhere();
    expect(() => lockDataDir(dataDir)).toThrow('process 1 of another container or machine');
    expect(readFileSync(lockFile, 'utf8')).toBe(ELSEWHERE);
    await end(other);
  });

  it('takes over a lock that no process in another container touches any more', () => {
    writeFileSync(lockFile, ELSEWHERE);
    lockDataDir(dataDir);
    expect(readFileSync(lockFile, 'utf8')).toContain(`${process.pid} `);
    expect(readdirSync(dataDir)).toEqual(['gateway.lock']);
  }, 20_000);

  it('takes a lock at once when it is released meanwhile', async () => {
    writeFileSync(lockFile, ELSEWHERE);
    const script = `setTimeout(() => fs.rmSync(${JSON.stringify(lockFile)}), 500)`;
    const other = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
    await once(other, 'spawn');
    lockDataDir(dataDir);
    expect(readFileSync(lockFile, 'utf8')).toContain(`${process.pid} `);
  }, 20_000);
});

it('touches the lock as long as it holds the folder', async () => {
  const unlock = lockDataDir(dataDir);
  const taken = statSync(lockFile).mtimeMs;
  await sleep(1_500);
  expect(statSync(lockFile).mtimeMs).toBeGreaterThan(taken);
  unlock();
});

it('leaves the lock alone and logs once when another gateway has taken over the folder', async () => {
  let lost = 0;
  const unlock = lockDataDir(dataDir, () => (lost += 1));
  await sleep(1_500);
  expect(lost).toBe(0);
  writeFileSync(lockFile, ELSEWHERE);
  const taken = statSync(lockFile).mtimeMs;
  await sleep(2_500);
  expect([lost, statSync(lockFile).mtimeMs]).toEqual([1, taken]);
  unlock();
  expect(readFileSync(lockFile, 'utf8')).toBe(ELSEWHERE);
});
