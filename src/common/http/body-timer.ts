/** Bounds the wait for a body: how long nothing of it may come, and how long it may take in all. */
export class BodyTimer {
  readonly #silence: NodeJS.Timeout;
  readonly #whole: NodeJS.Timeout;

  constructor({ silenceMs, totalMs }: { readonly silenceMs: number; readonly totalMs: number }, onLate: () => void) {
    this.#silence = setTimeout(onLate, silenceMs);
    this.#whole = setTimeout(onLate, totalMs);
  }

  /** Something has come. Not after `stop`: a timer that was cleared would come back to life. */
  restart(): void {
    this.#silence.refresh();
  }

  stop(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#whole);
  }
}
