import type { BodyEncoding, PackedBodies } from './packed-bodies.js';
import type { RequestLog } from './request-log.entity.js';

export class LoggedBodyResponse {
  /** The header `content-type`; null: there was none. */
  readonly content_type: string | null;
  /** Of the whole body, in bytes, as it was sent. */
  readonly size: number;
  /** Whether `content` is its beginning only. */
  readonly truncated: boolean;
  /** How `content` is written: `base64` where the body is not text. */
  readonly encoding: BodyEncoding;
  readonly content: string;
}

export class LoggedBodiesResponse {
  /** Of the call. */
  readonly id: string;
  readonly object: 'log.bodies';
  /** What the client sent; null: it sent nothing, or a file. */
  readonly request: LoggedBodyResponse | null;
  /** What it got; null: nothing. */
  readonly response: LoggedBodyResponse | null;
}

export function toLoggedBodiesResponse({ id }: RequestLog, { request, response }: PackedBodies): LoggedBodiesResponse {
  return { id, object: 'log.bodies', request, response };
}
