import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorCodeOf } from '../errors/error-code-of.js';
import { toErrorEnvelope } from '../errors/error-envelope.js';
import { GatewayError } from '../errors/gateway.error.js';

/** Node's parser gave up on a request: too large a head, too slow a client, or no HTTP at all. */
const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers what is not a request with the envelope of every other error; such a connection cannot go on. */
export function answerMalformedRequest(cause: Error, socket: Duplex): void {
  if (!socket.writable || errorCodeOf(cause) === 'ECONNRESET') return void socket.destroy();
  const status = STATUS_BY_CODE[errorCodeOf(cause) ?? ''] ?? 400;
  const error = new GatewayError('validation_failed', {
    status,
    message: 'The request is not valid HTTP, too slow, or its head is too large.',
  });
  const body = JSON.stringify(toErrorEnvelope(error));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
