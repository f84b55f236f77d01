import type { IncomingMessage, ServerResponse } from 'node:http';

const awaiting = new WeakSet<IncomingMessage>();

/**
 * Sends `100 Continue` when the body is read for the first time, and so after the caller is known: a client that is
 * refused need not send its body. Node would send it with the head.
 */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  awaiting.add(request);
  const read = request._read.bind(request);
  request._read = (size) => {
    // After the response, Node reads what is left only to discard it.
    if (awaiting.delete(request) && !response.headersSent && !response.destroyed) response.writeContinue();
    read(size);
  };
}

/** Whether the client waits for `100 Continue` or for a refusal before it sends the body. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return awaiting.has(request);
}
