// Runs spec files in a few Node processes that load each module once, for all of their files. jest's own runner gives
// every file a vm context and so loads Nest, TypeORM and this gateway again for each: most of a run's time.
import { fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url));
const TYPESCRIPT = new URL('typescript.mjs', import.meta.url).href;
/** Read and written by Node 22.1 and newer. */
const COMPILED = fileURLToPath(new URL('../../../node_modules/.cache/compiled', import.meta.url));

/** Two that start gateways keep two cores busy. Beside a third spec, connections would time out. */
const MOST_PROCESS_SPECS = 2;

const DAY_MS = 86_400_000;
/** Longer than nearly all files take, even on a busy machine. */
const FILE_MS = 180_000;

export default class SharedModulesRunner {
  supportsEventEmitters = false;

  constructor(globalConfig) {
    this.globalConfig = globalConfig;
  }

  async runTests(tests, watcher, onStart, onResult, onFailure) {
    // The sequencer puts the specs that start gateways first.
    const waiting = [...tests];
    const noProcessSpecWaits = new EventEmitter();
    const runInTurn = async (worker) => {
      for (let test = waiting.shift(); test !== undefined && !watcher.isInterrupted(); test = waiting.shift()) {
        if (waiting.length === 0 || !isOfProcess(waiting[0])) noProcessSpecWaits.emit('reached');
        await waitOutMidnight();
        await onStart(test);
        try {
          await onResult(test, await worker.run(test));
        } catch (error) {
          await onFailure(test, error);
        }
      }
      noProcessSpecWaits.emit('reached');
      await worker.end();
    };
    const count = Math.min(this.globalConfig.maxWorkers, tests.length);
    const workers = Array.from({ length: count }, (_, index) => new SpecWorker(index + 1, this.globalConfig));
    const later = tests.some(isOfProcess) ? once(noProcessSpecWaits, 'reached') : undefined;
    await Promise.all(
      workers.map(async (worker, index) => {
        if (index >= MOST_PROCESS_SPECS) await later;
        await runInTurn(worker);
      }),
    );
  }
}

/** At midnight in UTC, usage limits and reports may begin a new day, week or month. No file should see that by chance. */
async function waitOutMidnight() {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left > FILE_MS) return;
  process.stderr.write(`The next file begins after midnight (UTC), in ${Math.ceil(left / 1_000)} s.\n`);
  await sleep(left);
}

function isOfProcess({ context }) {
  return ['start', 'process'].includes(context.config.displayName.name);
}

/** Node itself crashed: V8 has defects that end a process in the middle of any file. */
class CrashOfNode extends Error {
  static signals = new Set(['SIGTRAP', 'SIGILL', 'SIGSEGV', 'SIGABRT']);
}

/** One process at a time, and another one after a file that leaves its process unfit for more. */
class SpecWorker {
  constructor(id, globalConfig) {
    this.id = id;
    this.globalConfig = globalConfig;
  }

  async run(test) {
    try {
      return await this.runOnce(test);
    } catch (error) {
      if (!(error instanceof CrashOfNode)) throw error;
      process.stderr.write(`CRASH OF NODE in ${test.path}: ${error.message}. It runs again, once, in a new process.\n`);
      return this.runOnce(test);
    }
  }

  async runOnce({ path, context }) {
    this.child ??= this.start();
    this.child.send({ path, globalConfig: this.globalConfig, projectConfig: context.config });
    const left = new AbortController();
    const ended = once(this.child, 'exit', { signal: left.signal }).then(([code, signal]) => {
      this.child = undefined;
      const message = `the process of the tests ended before they did: ${signal ?? `exit code ${code}`}`;
      throw CrashOfNode.signals.has(signal) ? new CrashOfNode(message) : new Error(message);
    });
    const [{ result, error, isSpent }] = await Promise.race([once(this.child, 'message'), ended]);
    left.abort();
    await ended.catch(() => undefined);
    if (isSpent) await this.end();
    if (error !== undefined) throw error;
    return result;
  }

  start() {
    return fork(WORKER, {
      env: { ...process.env, NODE_ENV: 'test', JEST_WORKER_ID: String(this.id), NODE_COMPILE_CACHE: COMPILED },
      execArgv: ['--import', TYPESCRIPT, '--enable-source-maps'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
  }

  async end() {
    const { child } = this;
    if (child === undefined) return;
    this.child = undefined;
    const ended = once(child, 'exit');
    child.send('end');
    await ended;
  }
}
