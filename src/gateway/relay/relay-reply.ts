import type { Writable } from 'node:stream';
import type { Response } from 'express';
import { toErrorEvent } from '../../common/errors/error-envelope.js';
import { noteLongAnswer } from '../../common/http/long-answers.js';
import { withoutByteOrderMark } from '../../common/json/read.js';
import { type UpstreamHead, firstHeader } from '../../upstream/upstream.types.js';
import { mayStreamEvents, type RelayRoute } from './relay-route.js';

/** A JSON answer for the caller. */
export interface JsonAnswer {
  readonly status: number;
  readonly json: unknown;
  /** The provider's own bytes, when they are forwarded unchanged. */
  readonly bytes?: Buffer;
}

export function replyJson(response: Response, { status, json, bytes }: JsonAnswer): void {
  const body = bytes === undefined ? Buffer.from(JSON.stringify(json)) : withoutByteOrderMark(bytes);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

/** Headers of a forwarded body. Besides these, only those of `passedHeaders` reach the caller, as with every answer. */
const BODY_HEADERS = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-disposition',
  'content-range',
  'accept-ranges',
  'etag',
  'last-modified',
] as const;

/** A body with one of these headers cannot carry an additional event. */
const PRECLUDING_MORE = ['content-length', 'content-encoding'] as const;

/** Decides by the head of a response whether its body is streamed to the caller. */
export function streamTo(route: RelayRoute, response: Response): (head: UpstreamHead) => Writable | undefined {
  return (head) => {
    if (head.status < 200 || head.status > 299 || !isStreamed(route, head)) return undefined;
    for (const name of BODY_HEADERS) {
      const value = firstHeader(head.headers, name);
      if (value !== undefined) response.setHeader(name, value);
    }
    response.statusCode = head.status;
    if (route.kind !== 'download') noteLongAnswer(response);
    if (mayStreamEvents(route) && !PRECLUDING_MORE.some((name) => response.hasHeader(name))) {
      response.req.errorEvent = toErrorEvent;
    }
    // An event stream may stay silent for long after its head.
    response.flushHeaders();
    return response;
  };
}

function isStreamed(route: RelayRoute, { headers }: UpstreamHead): boolean {
  if (route.kind === 'download') return true;
  const type = (firstHeader(headers, 'content-type') ?? '').toLowerCase();
  return mayStreamEvents(route) && type.startsWith('text/event-stream');
}
