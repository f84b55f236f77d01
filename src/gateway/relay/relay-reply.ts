import type { Writable } from 'node:stream';
import type { Response } from 'express';
import { toErrorEvent } from '../../common/errors/error-envelope.js';
import { type UpstreamHead, firstHeader } from '../../upstream/upstream.types.js';
import { mayStreamEvents, type RelayRoute } from './relay-route.js';

/** A JSON answer for the caller. */
export interface JsonAnswer {
  readonly status: number;
  readonly json: unknown;
  /** The provider's own bytes, when they are forwarded unchanged. */
  readonly bytes?: Buffer;
  /** Milliseconds until the client should poll again, for an object that is not finished. */
  readonly pollAfterMs?: string | undefined;
}

/** OpenAI's SDKs use this as their polling interval, and 5 s without it. */
const POLL_AFTER = 'openai-poll-after-ms';

export function readPollAfter({ headers }: Pick<UpstreamHead, 'headers'>): string | undefined {
  const value = firstHeader(headers, POLL_AFTER);
  return value !== undefined && /^\d{1,9}$/.test(value) ? value : undefined;
}

export function replyJson(response: Response, { status, json, bytes, pollAfterMs }: JsonAnswer): void {
  const body = bytes ?? Buffer.from(JSON.stringify(json));
  if (pollAfterMs !== undefined) response.setHeader(POLL_AFTER, pollAfterMs);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

/** Headers of a forwarded body. No other header of the provider reaches the caller. */
const PASSED_HEADERS = ['content-type', 'content-length', 'content-encoding', 'content-disposition'] as const;

/** A body with one of these headers cannot carry an additional event. */
const PRECLUDING_MORE = ['content-length', 'content-encoding'] as const;

/** Decides by the head of a response whether its body is streamed to the caller. */
export function streamTo(route: RelayRoute, response: Response): (head: UpstreamHead) => Writable | undefined {
  return (head) => {
    if (head.status < 200 || head.status > 299 || !isStreamed(route, head)) return undefined;
    for (const name of PASSED_HEADERS) {
      const value = firstHeader(head.headers, name);
      if (value !== undefined) response.setHeader(name, value);
    }
    response.statusCode = head.status;
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
