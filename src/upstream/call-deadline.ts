import { type UpstreamCall, UpstreamFailure, type UpstreamFailureKind } from './upstream.types.js';

/** setTimeout fires at once for longer times. */
const LONGEST_TIMER_MS = 2_147_483_647;

const INCOMPLETE = 'no complete answer within';
const SILENT = 'nothing moved for';

type EndListener = (failure: UpstreamFailure) => void;

/**
 * Ends a call early: at its deadline, or when its client disconnects. It uses one timer and one listener per call, for
 * all attempts. It bounds the whole call or its silence, which `touch` restarts. It has one listener at a time.
 */
export class CallDeadline {
  /** On the clock of `performance.now()`, which never goes back. */
  private readonly deadlineMs: number;
  private timeoutMs: number;
  /** Whether it bounds the silence in the call, not the whole. */
  boundsSilence: boolean;
  /** Whether the call has ended early. */
  expired = false;
  private timer: NodeJS.Timeout | undefined;
  private wholeTimer: NodeJS.Timeout | undefined;
  private readonly stopWatchingCaller: () => void;
  private failure: UpstreamFailure | undefined;
  private listener: EndListener | undefined;
  private disposed = false;

  /** A `timeoutMs` of Infinity sets no bound. */
  constructor({ timeoutMs, caller }: Pick<UpstreamCall, 'timeoutMs' | 'caller'>, bounds: 'call' | 'silence' = 'call') {
    this.deadlineMs = performance.now() + timeoutMs;
    this.timeoutMs = timeoutMs;
    this.boundsSilence = bounds === 'silence';
    this.timer = this.timerFor(timeoutMs, 'timeout', this.boundsSilence ? SILENT : INCOMPLETE);
    this.stopWatchingCaller = caller.onAbort(this.endForCaller);
  }

  get remainingMs(): number {
    return this.deadlineMs - performance.now();
  }

  /** Restarts the bound of silence. Cheap enough for every chunk of a body. Does not change `remainingMs`. */
  touch(): void {
    // `refresh` would start a cleared timer again.
    if (this.boundsSilence && !this.disposed && !this.failure) this.timer?.refresh();
  }

  /** Bounds the silence of the client from now on: it reads nothing of the answer. */
  waitForClient(pauseMs: number): void {
    this.await(pauseMs, 'caller_gone', 'the caller took nothing for');
  }

  /**
   * Bounds the silence of the other side again, since the client has read everything.
   * @param timeoutMs the bound from now on; default as before
   */
  waitForUpstream(timeoutMs = this.timeoutMs): void {
    this.timeoutMs = timeoutMs;
    this.await(timeoutMs, 'timeout', SILENT);
  }

  /** Bounds the whole call, in addition to its silence. */
  endAfter(milliseconds: number): void {
    this.wholeTimer ??= this.timerFor(milliseconds, 'timeout', INCOMPLETE);
  }

  /** Runs `listener` when the call ends early; at once if it already has. */
  listen(listener: EndListener): void {
    if (this.failure) listener(this.failure);
    else this.listener = listener;
  }

  unlisten(): void {
    this.listener = undefined;
  }

  /** Returns the result of `work`, unless the call ends first. Then `work` continues, and its result is ignored. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.listen(reject);
      work.then(
        (value) => {
          this.unlisten();
          resolve(value);
        },
        (error: unknown) => {
          this.unlisten();
          reject(error);
        },
      );
    });
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.unlisten();
        resolve();
      }, milliseconds);
      this.listen((failure) => {
        clearTimeout(timer);
        reject(failure);
      });
    });
  }

  /** Call it in a `finally`: a timer that is left keeps the process alive. */
  dispose(): void {
    this.disposed = true;
    clearTimeout(this.timer);
    clearTimeout(this.wholeTimer);
    this.stopWatchingCaller();
    this.listener = undefined;
  }

  private await(milliseconds: number, kind: UpstreamFailureKind, aim: string): void {
    if (this.disposed || this.failure) return;
    this.boundsSilence = true;
    clearTimeout(this.timer);
    this.timer = this.timerFor(milliseconds, kind, aim);
  }

  private timerFor(milliseconds: number, kind: UpstreamFailureKind, aim: string): NodeJS.Timeout | undefined {
    if (milliseconds === Infinity) return undefined;
    const end = (): void => this.end(new UpstreamFailure(kind, `${aim} ${milliseconds} ms`));
    return setTimeout(end, Math.min(milliseconds, LONGEST_TIMER_MS));
  }

  private readonly endForCaller = (): void =>
    this.end(new UpstreamFailure('caller_gone', 'the caller left before the answer'));

  private end(failure: UpstreamFailure): void {
    if (this.failure) return;
    this.failure = failure;
    this.expired = true;
    const listener = this.listener;
    this.listener = undefined;
    listener?.(failure);
  }
}
