import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.js';

const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));
/** From Node 22.1 on, a start reads compiled code here, which saves a quarter of its CPU. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url));
/** In words, and in production as a line of the log. */
const LISTENS = /(?:Tollgate listens on |"event":"listening","url":")([^\s"]+)[\n"]/;
const KEY_FORM = /tg_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}/g;
/** Much longer than a start takes, even on a busy machine. */
const START_MS = 60_000;

type Environment = Readonly<Record<string, string>>;

/** A run of tests that is interrupted leaves no program behind. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A built program of this repository in a process of its own, with only these settings. */
export class BuiltProgram {
  private output = '';
  private errors = '';
  private readonly child: ChildProcess;
  private readonly closed: Promise<unknown>;

  constructor(file: string, environment: Environment, folder: string, words: readonly string[] = []) {
    const { PATH = '' } = process.env;
    this.child = spawn(process.execPath, [file, ...words], {
      cwd: folder,
      env: { PATH, NODE_COMPILE_CACHE: COMPILED, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
    this.closed = once(this.child, 'close');
    running.add(this.child);
    this.child.once('exit', () => running.delete(this.child));
  }

  get stdout(): string {
    return this.output;
  }

  get stderr(): string {
    return this.errors;
  }

  /** 0 when it could not be started. */
  get pid(): number {
    return this.child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** The output is complete only after `exitCode` has resolved. */
  leaveOutput(): void {
    this.child.stdout?.pause();
  }

  /** The exit code, or null after a signal. Resolves when all output has arrived. */
  async exitCode(): Promise<number | null> {
    this.child.stdout?.resume();
    await this.closed;
    return this.child.exitCode;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.closed;
  }
}

export class GatewayProcess extends BuiltProgram {
  constructor(environment: Environment, folder: string) {
    super(MAIN, { HOST: '127.0.0.1', PORT: '0', ...environment }, folder);
  }

  /** The address of the gateway, once it listens. */
  async url(): Promise<string> {
    await eventually(() => this.hasEnded || LISTENS.test(this.stdout), START_MS);
    const url = LISTENS.exec(this.stdout)?.[1];
    if (url === undefined) throw new Error(`the gateway did not start: ${this.stderr}`);
    return url;
  }
}

/** The keys that it has printed. */
export function keysIn({ stdout, stderr }: BuiltProgram): readonly string[] {
  return (stdout + stderr).match(KEY_FORM) ?? [];
}
