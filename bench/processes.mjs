// Child processes of a benchmark: started, asked for their CPU time, and gone with the benchmark however it ends.
import { fork } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Linux reports CPU time to programs in hundredths of a second on every machine (proc(5): USER_HZ). */
const MS_PER_TICK = 10;
const HAS_PROC = existsSync('/proc/self/stat');
const CHILD = new URL('./child.mjs', import.meta.url).href;
const STOP_MS = 5_000;

const children = new Set();
/** By process, the id of its thread that is a database: the gateway has no other threads of its own. */
const databaseThreads = new WeakMap();

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

/** Starts a module as a process of its own. Its output is thrown away, its complaints are shown. */
export function start(file, { args = [], env = {}, nodeOptions = [] } = {}) {
  const { PATH, HOME, TMPDIR } = process.env;
  const child = fork(file, args, {
    // From here, and not from its arguments, threads have it too.
    env: { PATH, HOME, TMPDIR, NODE_OPTIONS: `--import=${CHILD}`, ...env },
    execArgv: nodeOptions,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  child.on('message', ({ thread }) => thread !== undefined && databaseThreads.set(child, thread));
  return child;
}

/** Starts a server of the benchmark's own, by its file's name beside this one. */
export async function startServer(name, { args = [], nodeOptions = [] } = {}) {
  const child = start(new URL(name, import.meta.url).pathname, { args, nodeOptions });
  return { child, url: await addressOf(child) };
}

/** The address that a child announced. */
async function addressOf(child) {
  const { port } = await messageOf(child, 'port');
  return `http://127.0.0.1:${port}`;
}

/**
 * Milliseconds of CPU used so far: those of a database that is a thread of the process by themselves, and those of all its other
 * threads. Where the system does not distinguish threads, `database` is undefined and its time is in `process`.
 */
export async function cpuMs(child) {
  if (!HAS_PROC) {
    child.send('cpu');
    const { cpu } = await messageOf(child, 'cpu');
    return { process: (cpu.user + cpu.system) / 1_000, database: undefined };
  }
  const all = ticksOf(`/proc/${child.pid}/stat`) * MS_PER_TICK;
  const thread = databaseThreads.get(child);
  if (thread === undefined) return { process: all, database: undefined };
  const database = ticksOf(`/proc/${child.pid}/task/${thread}/stat`) * MS_PER_TICK;
  return { process: all - database, database };
}

function ticksOf(path) {
  const stat = readFileSync(path, 'latin1');
  // The second field is the program's name in brackets, which may contain spaces; user and system time are 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** The next message of a child that has a field; fails when the child ends first. */
export function messageOf(child, field) {
  return new Promise((done, fail) => {
    const onExit = (code) => fail(new Error(`a process of the benchmark ended early (code ${code})`));
    const onMessage = (message) => {
      if (message?.[field] === undefined) return;
      child.off('exit', onExit).off('message', onMessage);
      done(message);
    };
    child.on('exit', onExit).on('message', onMessage);
  });
}

/** Asks all children to end, and waits for it. */
export async function stopAll() {
  const gone = [...children].map((child) => new Promise((done) => child.once('exit', done)));
  for (const child of children) child.kill('SIGTERM');
  await Promise.race([Promise.all(gone), new Promise((done) => setTimeout(done, STOP_MS).unref())]);
}
