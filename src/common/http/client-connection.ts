import type { ServerResponse } from 'node:http';

/** Reports that the client has disconnected, so that work for it can stop. Cheaper than an AbortSignal per request. */
export interface ClientConnection {
  readonly aborted: boolean;
  /**
   * Runs `listener` once when the client disconnects, immediately if it already has. Returns a function that removes
   * it.
   */
  onAbort(listener: () => void): () => void;
}

/** For work that does not belong to a request. */
export const NEVER_ABORTED: ClientConnection = { aborted: false, onAbort: () => () => undefined };

/** A connection that stays open until `abort` is called. */
export class AbortableClient implements ClientConnection {
  /** There are only a few, so searching the array costs less than a Set per request. */
  private readonly listeners: (() => void)[] = [];
  private left = false;

  get aborted(): boolean {
    return this.left;
  }

  onAbort(listener: () => void): () => void {
    if (this.left) listener();
    else this.listeners.push(listener);
    return () => {
      const place = this.listeners.indexOf(listener);
      if (place >= 0) this.listeners.splice(place, 1);
    };
  }

  abort(): void {
    this.left = true;
    // One by one, since a listener may remove another.
    for (let listener = this.listeners.shift(); listener !== undefined; listener = this.listeners.shift()) listener();
  }
}

/** The client of an HTTP response. Aborted when the connection closes before the response is complete. */
export class HttpClientConnection extends AbortableClient {
  constructor(response: ServerResponse) {
    super();
    response.on('close', () => {
      if (!response.writableFinished) this.abort();
    });
  }
}

/**
 * nginx's status for "client closed request", for the log. No response was sent, so the gateway has no status of its
 * own.
 */
export const CLIENT_CLOSED_REQUEST = 499;
