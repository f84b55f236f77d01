import type { ServerResponse } from 'node:http';

/** Tells that the caller has gone, so that work for it is of no use any more. Cheaper than an AbortSignal a request. */
export interface ClientConnection {
  readonly aborted: boolean;
  /** Runs `listener` once when the caller leaves, at once when it has left; returns how to stop listening. */
  onAbort(listener: () => void): () => void;
}

/** For work that nobody waits for. */
export const NEVER_ABORTED: ClientConnection = { aborted: false, onAbort: () => () => undefined };

/** A caller that stays until it is told to leave. */
export class AbortableClient implements ClientConnection {
  /** A few at most: to make a Set for each request would cost more than to look for one of them. */
  private readonly listeners: (() => void)[] = [];
  private left = false;

  get aborted(): boolean {
    return this.left;
  }

  onAbort(listener: () => void): () => void {
    if (this.left) listener();
    else this.listeners.push(listener);
    return () => this.stopTelling(listener);
  }

  abort(): void {
    this.left = true;
    // One by one: a listener may take another out.
    for (let listener = this.listeners.shift(); listener !== undefined; listener = this.listeners.shift()) listener();
  }

  private stopTelling(listener: () => void): void {
    const place = this.listeners.indexOf(listener);
    if (place >= 0) this.listeners.splice(place, 1);
  }
}

/** The caller behind an HTTP response: gone when the connection closes before the answer is complete. */
export class HttpClientConnection extends AbortableClient {
  constructor(response: ServerResponse) {
    super();
    response.on('close', () => {
      if (!response.writableFinished) this.abort();
    });
  }
}

/** nginx's code for "client closed request": nothing was answered, so there is no status of ours. */
export const CLIENT_CLOSED_REQUEST = 499;
