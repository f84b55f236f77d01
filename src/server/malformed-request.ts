import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorCodeOf } from '../common/errors/describe-error.js';
import { toErrorEnvelope } from '../common/errors/error-envelope.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';
import { UNMATCHED } from '../telemetry/context.middleware.js';

/** Records a refusal before it is sent. Returns the headers that every response has. */
export type NoteRefusal = (refusal: GatewayError) => Readonly<Record<string, string>>;

/** Answers malformed HTTP with the error envelope of every other error, and closes the connection. */
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

/** Node's parser rejected the request: the client is too slow, the head too large, or the bytes are not HTTP. */
function errorOf(nodeCode: string | undefined): GatewayError {
  if (nodeCode === 'ERR_HTTP_REQUEST_TIMEOUT') return new GatewayError('request_timeout', { reason: nodeCode });
  return new GatewayError('validation_failed', {
    status: nodeCode === 'HPE_HEADER_OVERFLOW' ? 431 : 400,
    message: 'The request is not valid HTTP, or its head is too large.',
    reason: nodeCode,
  });
}

/** Counts and logs malformed requests, which have neither headers nor a route. */
export function malformedRequestLog(logger: Logger, metrics: Metrics): NoteRefusal {
  return ({ status, code, reason }) => {
    const traceId = randomUUID();
    metrics.requests.inc({ route: UNMATCHED, code: status });
    logger.info({ event: 'malformed_request', trace_id: traceId, status, error_code: code, error_reason: reason });
    return { 'x-gateway-trace-id': traceId, 'x-request-id': traceId };
  };
}
