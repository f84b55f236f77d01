import type { ServerResponse } from 'node:http';

/** Tells that the caller has gone, so that work for it is of no use any more. Cheaper than an AbortSignal a request. */
export interface CallerPresence {
  readonly gone: boolean;
  /** Runs `listener` once when the caller leaves, at once when it has left; returns how to stop listening. */
  onGone(listener: () => void): () => void;
}

/** For work that nobody waits for. */
export const ALWAYS_PRESENT: CallerPresence = { gone: false, onGone: () => () => undefined };

/** A caller that stays until it is told to leave. */
export class Departure implements CallerPresence {
  private readonly listeners = new Set<() => void>();
  private left = false;

  get gone(): boolean {
    return this.left;
  }

  onGone(listener: () => void): () => void {
    if (this.left) listener();
    else this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  leave(): void {
    this.left = true;
    for (const listener of this.listeners) listener();
    this.listeners.clear();
  }
}

/** The caller behind an HTTP response: gone when the connection closes before the answer is complete. */
export class HttpCaller extends Departure {
  constructor(response: ServerResponse) {
    super();
    response.on('close', () => {
      if (!response.writableFinished) this.leave();
    });
  }
}
