import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyLogging } from '../access/principal.js';

/** The beginning of a body. */
export interface CapturedBody {
  /** The header `content-type`. */
  readonly contentType: string | undefined;
  /** The header `content-encoding`. */
  readonly contentEncoding: string | undefined;
  /** Of the whole body, in bytes. */
  readonly size: number;
  readonly bytes: Buffer;
}

/** What a client sent and got. */
export interface CapturedBodies {
  readonly rules: BodyLogging;
  /** Absent: there was none, or it was streamed through as a file. */
  readonly request: CapturedBody | undefined;
  /** Absent: there was none. */
  readonly response: CapturedBody | undefined;
}

/** Copies the beginning of a response while it is written. */
export class BodyCapture {
  readonly #rules: BodyLogging;
  readonly #response: ServerResponse;
  readonly #pieces: Buffer[] = [];
  #sent: Buffer | undefined;
  #size = 0;
  #kept = 0;

  /** Replaces `write` and `end` of this response. */
  constructor(rules: BodyLogging, response: ServerResponse) {
    this.#rules = rules;
    this.#response = response;
    const write = response.write.bind(response);
    const end = response.end.bind(response);
    response.write = (chunk: unknown, ...rest: readonly unknown[]): boolean => {
      this.#note(chunk, rest[0]);
      return Reflect.apply(write, undefined, [chunk, ...rest]) === true;
    };
    response.end = (...given: readonly unknown[]) => {
      this.#note(given[0], given[1]);
      Reflect.apply(end, undefined, given);
      return response;
    };
  }

  /** Of the request, where what goes to the provider is another. */
  noteSent(body: Buffer | undefined): void {
    this.#sent ??= body;
  }

  /** @param body of the request, as it was read and decoded */
  take(request: IncomingMessage, body: Buffer | undefined): CapturedBodies {
    const sent = this.#sent ?? body;
    return {
      rules: this.#rules,
      request: sent === undefined ? undefined : this.#captured(sent.length, sent, request.headers['content-type']),
      response: this.#size === 0 ? undefined : this.#responseBody(),
    };
  }

  #responseBody(): CapturedBody {
    const type = this.#response.getHeader('content-type');
    const encoding = this.#response.getHeader('content-encoding');
    return this.#captured(this.#size, Buffer.concat(this.#pieces), textOf(type), textOf(encoding));
  }

  #captured(size: number, bytes: Buffer, contentType: string | undefined, contentEncoding?: string): CapturedBody {
    // A copy: a part of it would keep the whole in memory.
    const kept = bytes.length > this.#rules.maxBytes ? Buffer.from(bytes.subarray(0, this.#rules.maxBytes)) : bytes;
    return { contentType, contentEncoding, size, bytes: kept };
  }

  #note(chunk: unknown, encoding: unknown): void {
    const bytes = bytesOf(chunk, encoding);
    if (bytes === undefined) return;
    this.#size += bytes.length;
    const room = this.#rules.maxBytes - this.#kept;
    if (room <= 0) return;
    const piece = Buffer.from(bytes.subarray(0, room));
    this.#kept += piece.length;
    this.#pieces.push(piece);
  }
}

/** Undefined for what does not belong to the body: a callback, or nothing. */
function bytesOf(chunk: unknown, encoding: unknown): Uint8Array | undefined {
  if (chunk instanceof Uint8Array) return chunk;
  if (typeof chunk !== 'string') return undefined;
  return Buffer.from(chunk, typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8');
}

function textOf(header: number | string | readonly string[] | undefined): string | undefined {
  return header === undefined ? undefined : String(header);
}
