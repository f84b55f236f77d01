import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { readBody } from '../../common/http/read-body.js';
import { UploadBody } from '../../upstream/upload-body.js';

/**
 * A server can do nothing with half a JSON message. One of at most this many bytes is read whole, which costs less than a
 * stream and can be sent again when no connection came about.
 */
const GATHERED_BYTES = 64 * 1024;
/** How much more than the limit is read and thrown away before a client is cut off. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

/** A body on its way upstream, and how many bytes of it have come so far. */
export interface OutgoingBody {
  readonly content: Buffer | UploadBody | undefined;
  /** To be announced as `content-length`; undefined where undici knows it, or nobody does. */
  readonly announcedBytes: string | undefined;
  readonly size: () => number;
}

/**
 * @throws GatewayError `payload_too_large` at once for a length that is announced; for others the stream fails with it
 * @throws RequestAbortedError when the client leaves first
 */
export async function outgoingBody(request: IncomingMessage, limitBytes: number): Promise<OutgoingBody> {
  if (request.method !== 'POST') {
    request.resume();
    return { content: undefined, announcedBytes: undefined, size: () => 0 };
  }
  const announcedBytes = request.headers['content-length'];
  const length = Number(announcedBytes ?? Number.NaN);
  if (length <= GATHERED_BYTES || length > limitBytes) return wholeBody(await readBody(request, limitBytes));
  return streamedBody(request, announcedBytes, limitBytes);
}

export function wholeBody(content: Buffer): OutgoingBody {
  return { content, announcedBytes: undefined, size: () => content.length };
}

function streamedBody(request: IncomingMessage, announcedBytes: string | undefined, limitBytes: number): OutgoingBody {
  let size = 0;
  const content = new UploadBody(request);
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= limitBytes) return;
    // From now on the upload only runs into the void, so that the client gets as far as reading the answer.
    if (!content.destroyed) content.destroy(tooLarge(limitBytes));
    if (size > limitBytes + MAX_DISCARDED_BYTES) request.destroy();
  });
  return { content, announcedBytes, size: () => size };
}

function tooLarge(limitBytes: number): GatewayError {
  return new GatewayError('payload_too_large', { message: `The request body is larger than ${limitBytes} bytes.` });
}
