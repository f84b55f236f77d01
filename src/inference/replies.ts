import type { Response } from 'express';
import { firstHeader, type UpstreamAnswer, type UpstreamHead, passedHeaders } from '../upstream/upstream.types.js';
import { AWS_EVENTS } from '../upstream/streams/aws-events.js';
import type { Dialect } from './dialects/dialect.types.js';

/** The headers of a provider's error that are forwarded to the client. */
const ERROR_HEADERS = ['content-type', 'retry-after', 'retry-after-ms', 'x-should-retry', 'x-amzn-errortype'] as const;
const SERVER_SENT = 'text/event-stream';
/** Proxies must not cache, change or buffer a stream of events. */
const STREAM_HEADERS = { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' } as const;

export function isStream({ status, headers }: UpstreamHead): boolean {
  const type = (firstHeader(headers, 'content-type') ?? '').toLowerCase();
  return status >= 200 && status <= 299 && (type.startsWith(SERVER_SENT) || type.startsWith(AWS_EVENTS));
}

export function beginStream(
  { toErrorEvent, framing }: Pick<Dialect, 'toErrorEvent' | 'framing'>,
  response: Response,
  { status, headers }: UpstreamHead,
  answerId: () => string | undefined,
): void {
  response.statusCode = status;
  const type = firstHeader(headers, 'content-type') ?? SERVER_SENT;
  // A translation has converted binary events to server-sent ones.
  response.setHeader('content-type', framing === undefined && type.startsWith(AWS_EVENTS) ? SERVER_SENT : type);
  for (const [name, value] of Object.entries(STREAM_HEADERS)) response.setHeader(name, value);
  const requestId = response.req.context?.trace.traceId;
  response.req.errorEvent = (error) => toErrorEvent(error, requestId, answerId());
  response.flushHeaders();
}

export function reply(response: Response, { status, headers, body }: UpstreamAnswer): void {
  const type = firstHeader(headers, 'content-type') ?? 'application/json';
  response.writeHead(status, { 'content-type': type, 'content-length': body.length });
  response.end(body);
}

export function replyRefusal(response: Response, answer: UpstreamAnswer): void {
  for (const [name, value] of Object.entries(passedHeaders(answer.headers))) response.setHeader(name, value);
  for (const name of ERROR_HEADERS) {
    const value = firstHeader(answer.headers, name);
    if (value !== undefined) response.setHeader(name, value);
  }
  reply(response, answer);
}
