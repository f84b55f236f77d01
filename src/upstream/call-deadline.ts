import { type UpstreamCall, UpstreamFailure, type UpstreamFailureKind } from './upstream.types.js';

/** setTimeout fires at once for longer ones. */
const LONGEST_TIMER_MS = 2_147_483_647;

type EndListener = (failure: UpstreamFailure) => void;

/**
 * What ends a call before its answer: its deadline, or its caller leaving. One timer and one listener a call, whatever
 * the number of attempts. `restart` turns the deadline into a bound on silence. Whoever works for the call listens while working; there is one such listener at a time.
 */
export class CallDeadline {
  /** By `performance.now()`, which nobody can set back. */
  readonly #deadlineMs: number;
  #timeoutMs: number;
  readonly #aim: string;
  #timer: NodeJS.Timeout;
  readonly #stopWatchingCaller: () => void;
  #failure: UpstreamFailure | undefined;
  #listener: EndListener | undefined;
  #disposed = false;

  constructor(
    { timeoutMs, caller }: Pick<UpstreamCall, 'timeoutMs' | 'caller'>,
    /** What the time is for: begins the message of the failure. */
    aim = 'no complete answer within',
  ) {
    this.#deadlineMs = performance.now() + timeoutMs;
    this.#timeoutMs = timeoutMs;
    this.#aim = aim;
    this.#timer = this.#timerFor(timeoutMs, 'timeout', aim);
    this.#stopWatchingCaller = caller.onAbort(() => this.#endForCaller());
  }

  get remainingMs(): number {
    return this.#deadlineMs - performance.now();
  }

  get expired(): boolean {
    return this.#failure !== undefined;
  }

  /** Starts the timer anew. Cheap enough for every chunk of a body. Does not change `remainingMs`. */
  restart(): void {
    // A timer that was cleared would come back to life.
    if (!this.#disposed && !this.#failure) this.#timer.refresh();
  }

  /** From now on the silence is the caller's, who takes nothing: its bound is another. */
  waitForClient(pauseMs: number): void {
    if (this.#disposed || this.#failure) return;
    clearTimeout(this.#timer);
    this.#timer = this.#timerFor(pauseMs, 'caller_gone', 'the caller took nothing for');
  }

  /**
   * The caller has taken what there was: the silence is the other side's again.
   * @param timeoutMs its bound from now on; by default the one that it had
   */
  waitForUpstream(timeoutMs = this.#timeoutMs): void {
    if (this.#disposed || this.#failure) return;
    this.#timeoutMs = timeoutMs;
    clearTimeout(this.#timer);
    this.#timer = this.#timerFor(this.#timeoutMs, 'timeout', this.#aim);
  }

  /** Runs `listener` when the call ends early: at once when it already has. */
  listen(listener: EndListener): void {
    if (this.#failure) listener(this.#failure);
    else this.#listener = listener;
  }

  unlisten(): void {
    this.#listener = undefined;
  }

  /** The result of `work`, unless the call ends first; then `work` goes on unheeded. */
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

  /** Belongs in a `finally`: a timer that is left behind holds the process. */
  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    this.#stopWatchingCaller();
    this.#listener = undefined;
  }

  #timerFor(milliseconds: number, kind: UpstreamFailureKind, aim: string): NodeJS.Timeout {
    return setTimeout(
      () => this.#end(new UpstreamFailure(kind, `${aim} ${milliseconds} ms`)),
      Math.min(milliseconds, LONGEST_TIMER_MS),
    );
  }

  #endForCaller(): void {
    this.#end(new UpstreamFailure('caller_gone', 'the caller left before the answer'));
  }

  #end(failure: UpstreamFailure): void {
    if (this.#failure) return;
    this.#failure = failure;
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.(failure);
  }
}
