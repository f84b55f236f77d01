import type { BodyEncoding, PackedBodies } from './packed-bodies.js';
import type { RequestLog } from './request-log.entity.js';

export class LoggedBodyResponse {
  /** The header `content-type`; null: there was none. */
  readonly content_type: string | null;
  /** Length of the whole body, as it was sent. */
  readonly bytes: number;
  /** Whether `content` is the beginning only. */
  readonly truncated: boolean;
  /** How `content` is written: `base64` where the body is not text. */
  readonly encoding: BodyEncoding;
  /** The body, or its beginning. */
  readonly content: string;
}

export class LoggedBodiesResponse {
  /** The id of the call. */
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
