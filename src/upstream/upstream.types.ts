import type { Readable, Writable } from 'node:stream';
import type { MaybePromise } from '../common/maybe-promise.js';
import type { ClientConnection } from '../common/http/client-connection.js';
import type { ConnectionHolder } from './connection-holder.js';
import type { EventFraming } from './event-framing.js';

/** Changes a body as it passes. An error that it throws ends the exchange. */
export interface BodyFilter {
  /** Gets the next bytes, and returns the bytes to forward; may be empty. */
  push(chunk: Buffer): Buffer;
  /** Returns the bytes that are left at the end of the body. */
  end(): Buffer;
}

/** One HTTP request to a service outside the gateway, as plain data. */
export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: URL;
  /** Lower-case names. Built from an allow-list, never copied from the client. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

/** A request whose body may be a stream. Without the header `content-length`, it is sent chunked. */
export interface UpstreamStreamRequest extends Omit<UpstreamRequest, 'body'> {
  readonly body?: Buffer | Readable | undefined;
}

export interface UpstreamHead {
  readonly status: number;
  readonly headers: UpstreamHeaders;
}

/** A complete answer, body included, whatever its status. */
export interface UpstreamAnswer extends UpstreamHead {
  readonly body: Buffer;
}

/** A finished answer. `body` is undefined when it went to a sink. */
export interface RelayedAnswer extends UpstreamHead {
  readonly body: Buffer | undefined;
}

export type UpstreamHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Which failed attempts may be repeated. `connect`: those that got no connection. `refused`: also those with status
 * 408, 425, 429 or 5xx. `idempotent`: also those whose connection broke.
 */
export type RetryMode = 'idempotent' | 'refused' | 'connect' | 'never';

/** The fields of every call. */
interface CallParts {
  readonly caller: ClientConnection;
  /** The holder whose share of the connections is used; undefined for calls of the gateway itself. */
  readonly holder?: ConnectionHolder | undefined;
  /** Signs each attempt before it is sent. */
  readonly signer?: RequestSigner | undefined;
  /** Called in this order. */
  readonly observers?: readonly AttemptObserver[] | undefined;
  /** Earlier attempts, for example with another credential. They count towards the limit of attempts. */
  readonly attemptsMade?: number | undefined;
}

/** Signs the attempts of one call: a signature may cover the body and the time. */
export interface RequestSigner {
  readonly sign: (request: UpstreamRequest, now: Date) => Promise<UpstreamRequest>;
  /** Gets each answer. Returns true when it refuses the signature and other credentials are there; used once per call. */
  readonly renew?: ((answer: UpstreamHead) => boolean) | undefined;
}

/** Observes the attempts of a call, and may refuse them. */
export interface AttemptObserver {
  /**
   * Called before each attempt, which waits for it. An error that it throws refuses the attempt. For the first attempt,
   * the call rejects with that error; for a later one, the retries end.
   */
  before?(number: number): MaybePromise<void>;
  /** Called after an attempt has waited for a connection, whether it got one or not. Must not throw. */
  waited?(milliseconds: number): void;
  /** Called when an admitted attempt begins, unless the call has ended by then. Must not throw. */
  started?(): void;
  /** Called after each admitted attempt. Must not throw. */
  after?(attempt: UpstreamAttempt): void;
}

/** A call whose answer is held in memory. */
export interface UpstreamCall extends CallParts {
  readonly request: UpstreamRequest;
  /** Bound for the whole call in milliseconds, retries and waits included. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly retry: RetryMode;
}

/** A call whose bodies are streamed. */
export interface UpstreamRelayCall extends CallParts {
  /** A streamed body may fail at its source. The relay reads it to its end, even when the rest is not needed. */
  readonly request: UpstreamStreamRequest;
  /**
   * The longest silence in milliseconds, in both directions, including the connect and the wait for the head. Time that
   * the client takes, for its upload or to read the answer, does not count.
   */
  readonly idleTimeoutMs: number;
  /** The longest silence after the head, when the sink takes only event streams, which may be silent for long. */
  readonly eventIdleTimeoutMs?: number | undefined;
  /** The framing of those events; default `server-sent`. */
  readonly eventFraming?: EventFraming | undefined;
  /** The longest time for the whole call in milliseconds; unlimited by default. */
  readonly maxTotalMs?: number | undefined;
  /** The largest answer that is held in memory, when no sink takes it. */
  readonly maxBufferedBytes: number;
  /**
   * Called once with the head of the answer. A sink gets the body as it arrives, and belongs to the relay: it is ended
   * after the last byte, and destroyed when the answer breaks off, so that a partial answer never looks complete. An
   * event stream that falls silent between two events is left open, for the caller to end. Without a sink, the body is
   * held in memory and returned. The call rejects with any error that this throws.
   */
  readonly sinkFor: (head: UpstreamHead) => Writable | undefined;
  /** Changes the body before the sink gets it. The call rejects with any error that it throws. */
  readonly filter?: BodyFilter | undefined;
  /**
   * Repeats attempts whose answer has not begun. Then `sinkFor` is called at the first byte of the body, and
   * `idleTimeoutMs` bounds all attempts together until then. Default: one attempt. Not for a streamed request body.
   */
  readonly retry?: RetryMode | undefined;
}

/** One attempt of a call: an answer of any status, or a failure. Excludes signing and the waits between attempts. */
export interface UpstreamAttempt {
  /** 1 for the first attempt, after those in `attemptsMade`. */
  readonly number: number;
  readonly durationMs: number;
  /** false when the other side has received nothing of it. */
  readonly wasSent: boolean;
  readonly status?: number;
  readonly failure?: UpstreamFailureKind;
}

/** The interface of the client for other rooms, which tests implement with a fake. */
export interface UpstreamSender {
  /** Resolves with an answer of any status except 3xx. Rejects with UpstreamFailure, or with the error of `sign`. */
  send(call: UpstreamCall): Promise<UpstreamAnswer>;
  /**
   * Resolves when the whole answer is in the sink or in `body`. Rejects as `send` does, or with the error of the
   * request body or of `sinkFor`.
   */
  relay(call: UpstreamRelayCall): Promise<RelayedAnswer>;
}

export type UpstreamFailureKind =
  | 'refused_by_egress'
  /** No connection was free in time, or none for this holder: the request was not sent. */
  | 'busy'
  /** No connection could be made (DNS, TCP, TLS): the request was not sent. */
  | 'connect'
  /** The connection broke after the request was sent and before the answer began. */
  | 'broken'
  /** The answer began and was cut off or malformed. */
  | 'incomplete'
  /** An unrequested 101 arrived. The connection is closed, and the answer cannot be read. */
  | 'interim'
  | 'timeout'
  | 'too_large'
  | 'redirect'
  | 'caller_gone';

/** A call without a usable HTTP answer. The kind decides which documented error the client gets. */
export class UpstreamFailure extends Error {
  /** Whether the other side may have seen any of the request. */
  readonly wasSent: boolean;
  /** The head of the answer, if it began. */
  readonly head: UpstreamHead | undefined;
  /** Whether part of the answer may have reached its receiver. Then the call cannot be repeated. */
  readonly isPartial: boolean;

  constructor(
    readonly kind: UpstreamFailureKind,
    message: string,
    options: { cause?: unknown; wasSent?: boolean; head?: UpstreamHead | undefined; isPartial?: boolean } = {},
  ) {
    super(message, options);
    this.name = 'UpstreamFailure';
    this.head = options.head;
    this.isPartial = options.isPartial ?? false;
    this.wasSent = options.wasSent ?? (kind !== 'connect' && kind !== 'refused_by_egress' && kind !== 'busy');
  }

  /** Returns this failure as one after the head of the answer. */
  after(head: UpstreamHead, isPartial: boolean): UpstreamFailure {
    return new UpstreamFailure(this.kind, this.message, { cause: this.cause, wasSent: this.wasSent, head, isPartial });
  }

  /** Returns this failure as one before anything was sent. */
  unsent(): UpstreamFailure {
    return new UpstreamFailure(this.kind, this.message, { cause: this.cause, wasSent: false });
  }
}

/** The value of a header; the first one when there are several. */
export function firstHeader(headers: UpstreamHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' || value === undefined ? value : value[0];
}

/** Headers about a provider's limits and about the handling of a request. */
const PASSED = /^(?:x-ratelimit-|openai-|anthropic-|x-amzn-bedrock-|(?:request-id|x-amzn-requestid)$)/;
const TEXT = /^[\x20-\x7e]{1,256}$/;
/** The wait between two polls. SDKs understand only a number. */
const POLL_AFTER = 'openai-poll-after-ms';
const MILLISECONDS = /^\d{1,9}$/;
const MAX_HEADERS = 32;

/** The headers of a provider's answer that are forwarded to the client. */
export function passedHeaders(headers: UpstreamHeaders): Readonly<Record<string, string>> {
  const passed: [string, string][] = [];
  for (const name of Object.keys(headers)) {
    const value = PASSED.test(name) ? firstHeader(headers, name) : undefined;
    const form = name === POLL_AFTER ? MILLISECONDS : TEXT;
    if (value !== undefined && form.test(value) && passed.length < MAX_HEADERS) passed.push([name, value]);
  }
  return Object.fromEntries(passed);
}
