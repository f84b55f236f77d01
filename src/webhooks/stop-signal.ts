import type { CallerPresence } from '../common/http/caller-presence.js';

/** The gateway itself as the caller of what it sends: it leaves when it stops. */
export class StopSignal implements CallerPresence {
  readonly #listeners = new Set<() => void>();
  #isGone = false;

  get gone(): boolean {
    return this.#isGone;
  }

  onGone(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends all calls under way. */
  fire(): void {
    this.#isGone = true;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }
}
