import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
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
  const { pid } = child;
  if (pid === undefined) throw new Error('the process has no id');
  return Object.assign(child, { pid });
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

const HAS_PROC = existsSync('/proc/self/stat');

/** Field 22 of /proc/<pid>/stat: when the process began, in ticks. */
function startTimeOf(pid: number): string {
  if (!HAS_PROC) return 'unknown';
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

it('holds the folder until it is given back', () => {
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

it('fails on a folder that is not there', () => {
  expect(() => lockDataDir(join(dataDir, 'missing'))).toThrow(/ENOENT/);
});

describe('a lock that another process left', () => {
  it('is respected while that process runs', async () => {
    const other = await startProcess();
    writeFileSync(lockFile, `${other.pid} ${startTimeOf(other.pid)}`);
    expect(() => lockDataDir(dataDir)).toThrow(`process ${other.pid}`);
    expect(existsSync(lockFile)).toBe(true);
    await end(other);
  });

  it('is taken over when that process was killed', async () => {
    const other = await startProcess();
    writeFileSync(lockFile, `${other.pid} ${startTimeOf(other.pid)}`);
    await end(other);
    lockDataDir(dataDir);
    expect(readFileSync(lockFile, 'utf8')).toBe(`${process.pid} ${startTimeOf(process.pid)}`);
  });

  it('is taken over when its process id belongs to another process now', async () => {
    const other = await startProcess();
    writeFileSync(lockFile, `${other.pid} 1`);
    lockDataDir(dataDir)();
    await end(other);
  });

  it.each(['', 'not a lock', '-1 5', '0 5', '1e99 5', ' \n'])('is taken over when it is damaged: %j', (content) => {
    writeFileSync(lockFile, content);
    lockDataDir(dataDir);
    expect(readFileSync(lockFile, 'utf8')).toContain(`${process.pid} `);
    expect(readdirSync(dataDir)).toEqual(['gateway.lock']);
  });

  it('is left to the process that is just taking it over', async () => {
    const other = await startProcess();
    writeFileSync(lockFile, '999999999 5');
    writeFileSync(`${lockFile}.takeover`, `${other.pid} ${startTimeOf(other.pid)}`);
    expect(() => lockDataDir(dataDir)).toThrow(`process ${other.pid}`);
    expect(readFileSync(lockFile, 'utf8')).toBe('999999999 5');
    await end(other);
    lockDataDir(dataDir);
    expect(readdirSync(dataDir)).toEqual(['gateway.lock']);
  });
});
