import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorCodeOf } from '../common/errors/error-code-of.js';
import { toErrorEnvelope } from '../common/errors/error-envelope.js';
import { GatewayError } from '../common/errors/gateway.error.js';

/** What is said of a refusal before it goes out; returns the headers that every answer has. */
export type NoteRefusal = (refusal: GatewayError) => Readonly<Record<string, string>>;

/** Answers what is not a request with the envelope of every other error; such a connection cannot go on. */
export function answerMalformedRequest(cause: Error, socket: Duplex, note: NoteRefusal = () => ({})): void {
  if (!socket.writable || errorCodeOf(cause) === 'ECONNRESET') return void socket.destroy();
  const error = errorOf(errorCodeOf(cause));
  const { status } = error;
  const headers = Object.entries(note(error)).map(([name, value]) => `${name}: ${value}\r\n`);
  const body = JSON.stringify(toErrorEnvelope(error));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n${headers.join('')}connection: close\r\n\r\n${body}`,
  );
}

/** Node's parser gave up on a request: too slow a client, too large a head, or no HTTP at all. */
function errorOf(nodeCode: string | undefined): GatewayError {
  if (nodeCode === 'ERR_HTTP_REQUEST_TIMEOUT') return new GatewayError('request_timeout', { reason: nodeCode });
  return new GatewayError('validation_failed', {
    status: nodeCode === 'HPE_HEADER_OVERFLOW' ? 431 : 400,
    message: 'The request is not valid HTTP, or its head is too large.',
    reason: nodeCode,
  });
}
