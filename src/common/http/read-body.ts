import type { IncomingMessage } from 'node:http';
import type { MaybePromise } from '../maybe-promise.js';
import { GatewayError, type GatewayErrorOptions } from '../errors/gateway.error.js';
import { BodyBuffer } from './body-buffer.js';

/** The connection ended before the whole request had come: there is nobody left to answer. */
export class RequestAbortedError extends Error {
  constructor() {
    super('the client closed the connection before the request was complete');
    this.name = 'RequestAbortedError';
  }
}

/** The body is larger, or takes longer, than it may. */
export class BodyRefusedError extends GatewayError {
  constructor(
    code: 'payload_too_large' | 'request_timeout',
    /** How much of it had come by then. */
    readonly readBytes: number,
    options: GatewayErrorOptions,
  ) {
    super(code, options);
  }
}

export interface BodyLimits {
  readonly maxBytes: number;
  /** Milliseconds in which all of it must come. */
  readonly totalMs: number;
  /** Milliseconds in which nothing of it may come; default 30,000. */
  readonly silenceMs?: number;
  /** How much more than `maxBytes` is read and thrown away before a client is cut off; default 64 MiB. */
  readonly maxDiscardedBytes?: number;
}

const MAX_SILENCE_MS = 30_000;
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

const EMPTY = Buffer.alloc(0);

/**
 * Reads a whole request body, at once where all of it is there already, as it is for most that come with their heads. One that
 * is too large is read to its end as well, but thrown away: a client that is answered and cut off while it still sends finds a
 * broken connection instead of the answer. One that does not come in time is given up, with what came of it.
 * @throws BodyRefusedError `payload_too_large` after the end, or as soon as it is clear that the end is too far away;
 *   `request_timeout`, which ends the connection
 * @throws RequestAbortedError when the client leaves first
 */
export function readBody(request: IncomingMessage, limits: BodyLimits): MaybePromise<Buffer> {
  return isThere(request, limits) ? (request.read() ?? EMPTY) : gatherBody(request, limits);
}

/** And nobody else reads it. */
function isThere(request: IncomingMessage, { maxBytes }: BodyLimits): boolean {
  const { complete, destroyed, readableFlowing, readableLength } = request;
  return complete && !destroyed && readableFlowing === null && readableLength <= maxBytes;
}

async function gatherBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  // Gone before anybody listened: none of the events below would come any more.
  if (request.destroyed) throw new RequestAbortedError();
  const { maxBytes, totalMs, silenceMs = MAX_SILENCE_MS, maxDiscardedBytes = MAX_DISCARDED_BYTES } = limits;
  const announcedBytes = Number(request.headers['content-length'] ?? 0);
  const mostBytes = maxBytes + maxDiscardedBytes;
  if (announcedBytes > mostBytes) throw tooLarge(maxBytes, 0);
  return new Promise<Buffer>((done, fail) => {
    const chunks = new BodyBuffer();
    let size = 0;
    let timer: BodyTimer | undefined;
    const refuse = (error: BodyRefusedError): void => {
      timer?.stop();
      // What still comes is dropped.
      request.off('data', onData);
      chunks.clear();
      fail(error);
    };
    const onData = (chunk: Buffer): void => {
      timer?.restart();
      size += chunk.length;
      if (Math.max(size, announcedBytes) <= maxBytes) chunks.push(chunk);
      else chunks.clear();
      if (size > mostBytes) refuse(tooLarge(maxBytes, size));
    };
    request.on('data', onData);
    // A body whose end comes in the same turn needs no timer.
    setImmediate(() => {
      if (request.complete || request.destroyed) return;
      timer = new BodyTimer({ silenceMs, totalMs }, () => refuse(tooLate(size)));
    });
    request.on('end', () => {
      timer?.stop();
      if (size > maxBytes) return fail(tooLarge(maxBytes, size));
      done(chunks.take());
    });
    request.on('error', () => fail(new RequestAbortedError()));
    request.on('close', () => {
      timer?.stop();
      // An error is dear to make, and a request that has come whole closes as well.
      if (!request.complete) fail(new RequestAbortedError());
    });
  });
}

function tooLarge(maxBytes: number, readBytes: number): BodyRefusedError {
  const message = `The request body is larger than ${maxBytes} bytes.`;
  return new BodyRefusedError('payload_too_large', readBytes, { message });
}

/** Behind half a body, no other request can come on its connection. */
function tooLate(readBytes: number): BodyRefusedError {
  return new BodyRefusedError('request_timeout', readBytes, {
    message: 'The request body did not arrive in time.',
    headers: { connection: 'close' },
  });
}

/** Bounds the wait for a body: how long nothing of it may come, and how long it may take in all. */
class BodyTimer {
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
