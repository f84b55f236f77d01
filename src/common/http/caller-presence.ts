import type { ServerResponse } from 'node:http';

/** Tells that the caller has gone, so that work for it is of no use any more. Cheaper than an AbortSignal a request. */
export interface CallerPresence {
  readonly gone: boolean;
  /** Runs `listener` once when the caller leaves; returns how to stop listening. */
  onGone(listener: () => void): () => void;
}

/** For work that nobody waits for. */
export const ALWAYS_PRESENT: CallerPresence = { gone: false, onGone: () => () => undefined };

/** The caller behind an HTTP response: gone when the connection closes before the answer is complete. */
export class HttpCaller implements CallerPresence {
  private readonly listeners = new Set<() => void>();
  private left = false;

  constructor(response: ServerResponse) {
    response.on('close', () => {
      if (response.writableFinished) return;
      this.left = true;
      for (const listener of this.listeners) listener();
      this.listeners.clear();
    });
  }

  get gone(): boolean {
    return this.left;
  }

  onGone(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
