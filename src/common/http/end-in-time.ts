import type { ServerResponse } from 'node:http';

/** For what a stream that is ended had still to say. */
const LAST_READ_MS = 10_000;

/** Ends an answer that may not go on. A client that reads nothing more would keep its connection, which no limit counts any longer. */
export function endInTime(response: ServerResponse, lastBytes = ''): void {
  response.end(lastBytes);
  const cut = setTimeout(() => response.destroy(), LAST_READ_MS).unref();
  response.once('close', () => clearTimeout(cut));
}
