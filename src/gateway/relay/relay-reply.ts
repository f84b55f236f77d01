import type { Writable } from 'node:stream';
import type { Response } from 'express';
import { toErrorEvent } from '../../common/errors/error-envelope.js';
import { type UpstreamHead, firstHeader } from '../../upstream/upstream.types.js';
import type { RelayRoute } from './relay-route.js';

/** A JSON answer for the caller. */
export interface JsonAnswer {
  readonly status: number;
  readonly json: unknown;
  /** The provider's own bytes, when they are passed on unchanged. */
  readonly bytes?: Buffer;
  /** Milliseconds after which the provider wants to be asked again, for an object that is not done yet. */
  readonly pollAfterMs?: string | undefined;
}

/** OpenAI's SDKs wait as long between two questions, and 5 s without it. */
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

/** What a provider may say about a body that is passed on. Nothing else of its headers reaches the caller. */
const PASSED_HEADERS = ['content-type', 'content-length', 'content-encoding', 'content-disposition'] as const;

/** A body that has one of these cannot have an event added to it. */
const PRECLUDING_MORE = ['content-length', 'content-encoding'] as const;

/** Decides, when the head of an answer has come, whether its body goes to the caller as it comes. */
export function streamTo(route: RelayRoute, response: Response): (head: UpstreamHead) => Writable | undefined {
  return (head) => {
    if (head.status < 200 || head.status > 299 || !isStreamed(route, head)) return undefined;
    for (const name of PASSED_HEADERS) {
      const value = firstHeader(head.headers, name);
      if (value !== undefined) response.setHeader(name, value);
    }
    response.statusCode = head.status;
    if (route.answer === 'events' && !PRECLUDING_MORE.some((name) => response.hasHeader(name))) {
      response.req.errorEvent = toErrorEvent;
    }
    // An event stream may stay silent for long after its head.
    response.flushHeaders();
    return response;
  };
}

function isStreamed(route: RelayRoute, { headers }: UpstreamHead): boolean {
  if (route.answer === 'bytes') return true;
  const type = (firstHeader(headers, 'content-type') ?? '').toLowerCase();
  return route.answer === 'events' && type.startsWith('text/event-stream');
}
