import type { Readable, Writable } from 'node:stream';
import type { MaybePromise } from '../common/maybe-promise.js';
import type { ClientConnection } from '../common/http/client-connection.js';
import type { ConnectionHolder } from './connection-holder.js';
import type { EventFraming } from './event-framing.js';

/** Changes a body on its way. What it throws ends the exchange. */
export interface BodyFilter {
  /** What may go on of what has come so far; may be empty. */
  push(chunk: Buffer): Buffer;
  /** What is left at the end of the body. */
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

/** A request whose body may be sent as it comes. Its length goes into the header `content-length`; chunked without. */
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

/** An answer that is over: `body` is undefined when a sink has taken it. */
export interface RelayedAnswer extends UpstreamHead {
  readonly body: Buffer | undefined;
}

export type UpstreamHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Which failed attempts may be repeated: `connect` those whose connection never came about, `refused` also those that the other side
 * has refused (408, 425, 429, 5xx), `idempotent` also those whose connection broke.
 */
export type RetryMode = 'idempotent' | 'refused' | 'connect' | 'never';

/** What every call to the other side has. */
interface CallParts {
  readonly caller: ClientConnection;
  /** Whose share of the connections it uses; undefined: a call of the gateway itself. */
  readonly holder?: ConnectionHolder | undefined;
  /** Signs each attempt before it is sent. */
  readonly signer?: RequestSigner | undefined;
  /** In their order. */
  readonly observers?: readonly AttemptObserver[] | undefined;
  /** Under another credential, say: they count among those that a call may have. */
  readonly attemptsMade?: number | undefined;
}

/** Signs the attempts of one call: a signature may cover the body and the time. */
export interface RequestSigner {
  readonly sign: (request: UpstreamRequest, now: Date) => Promise<UpstreamRequest>;
  /** Gets each answer. Returns true when it refuses the signature and other credentials are there; used once per call. */
  readonly renew?: ((answer: UpstreamHead) => boolean) | undefined;
}

/** Watches over the attempts of a call. */
export interface AttemptObserver {
  /**
   * Asked before each attempt, which waits for it; what it throws refuses the attempt. The refusal of the first attempt is what
   * the call rejects with; that of a later one ends the retries.
   */
  before?(number: number): MaybePromise<void>;
  /** An attempt had to wait for a connection, whether it got one or not. Must not throw. */
  waited?(milliseconds: number): void;
  /** An admitted attempt begins. Not called when the call was over by then. Must not throw. */
  started?(): void;
  /** An admitted attempt is over. Must not throw. */
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

/** A call whose bodies pass through as they come. */
export interface UpstreamRelayCall extends CallParts {
  /** A body that is a stream is the client's to fail, and the relay's to read: to the end, even when the rest is not wanted. */
  readonly request: UpstreamStreamRequest;
  /**
   * Longest time in milliseconds in which nothing moves in either direction, connecting and the wait for the head
   * included. What the client lets wait, with its upload or as the receiver of the answer, does not count.
   */
  readonly idleTimeoutMs: number;
  /** The silence that is allowed from the head on, where a sink takes nothing but streams of events: they may be silent for long. */
  readonly eventIdleTimeoutMs?: number | undefined;
  /** Of the events that go to such a sink; by default `server-sent`. */
  readonly eventFraming?: EventFraming | undefined;
  /** Longest time for the whole call, however much moves in it; by default it has none. */
  readonly maxTotalMs?: number | undefined;
  /** Bound for an answer that no sink takes. */
  readonly maxBufferedBytes: number;
  /**
   * Asked once, when the head has come. A stream gets the body as it comes and belongs to the relay from then on: ended
   * after the last byte, destroyed when the answer breaks off, so that half of it is not taken for the whole. A stream of
   * events that has fallen silent between two of them is left open: it is the caller's to end. Without a sink the body is
   * held and returned. What this throws is what the call rejects with.
   */
  readonly sinkFor: (head: UpstreamHead) => Writable | undefined;
  /** Changes the body on its way to the sink. What it throws is what the call rejects with. */
  readonly filter?: BodyFilter | undefined;
  /**
   * Repeats attempts whose answer has not begun: then `sinkFor` is asked at the first byte of the body, and until then
   * `idleTimeoutMs` bounds all attempts together. By default a call is made once. Not with a body that is a stream.
   */
  readonly retry?: RetryMode | undefined;
}

/** One attempt of a call: an answer of any status, or a failure. Signing and the waits between attempts are not in it. */
export interface UpstreamAttempt {
  /** 1 for the first, or what follows on those that were made before. */
  readonly number: number;
  readonly durationMs: number;
  /** false: the other side has not seen any of it. */
  readonly wasSent: boolean;
  readonly status?: number;
  readonly failure?: UpstreamFailureKind;
}

/** What the rooms above need of the client, and what their tests put a fake in place of. */
export interface UpstreamSender {
  /** Resolves with an answer of any status but 3xx; rejects with UpstreamFailure, or with what `sign` threw. */
  send(call: UpstreamCall): Promise<UpstreamAnswer>;
  /** Resolves when the whole answer is with the sink or in `body`; rejects as `send` does, or with what the request body or `sinkFor` failed with. */
  relay(call: UpstreamRelayCall): Promise<RelayedAnswer>;
}

export type UpstreamFailureKind =
  | 'refused_by_egress'
  /** No connection was free in time, or none for this holder: the request was not sent. */
  | 'busy'
  /** No connection came about (DNS, TCP, TLS): the request was not sent. */
  | 'connect'
  /** The connection broke after the request was sent and before the answer began. */
  | 'broken'
  /** The answer began and was cut off or malformed. */
  | 'incomplete'
  /** An unrequested 101 came, and ended the connection: the rest of the answer cannot be read. */
  | 'interim'
  | 'timeout'
  | 'too_large'
  | 'redirect'
  | 'caller_gone';

/** No usable HTTP answer came. The kind decides which documented error the caller sees. */
export class UpstreamFailure extends Error {
  /** Whether the other side may have seen any of the request. */
  readonly wasSent: boolean;
  /** Of the answer that began, if one did. */
  readonly head: UpstreamHead | undefined;
  /** Whether some of the answer may have gone to its receiver: the call cannot be made again. */
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

  /** This failure after the head of the answer had come. */
  after(head: UpstreamHead, isPartial: boolean): UpstreamFailure {
    return new UpstreamFailure(this.kind, this.message, { cause: this.cause, wasSent: this.wasSent, head, isPartial });
  }

  /** This failure before anything was sent. */
  unsent(): UpstreamFailure {
    return new UpstreamFailure(this.kind, this.message, { cause: this.cause, wasSent: false });
  }
}

/** The value of a header that should come once; the first when it came more often. */
export function firstHeader(headers: UpstreamHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' || value === undefined ? value : value[0];
}

/** What a provider says about its limits and about the handling of a request. */
const PASSED = /^(?:x-ratelimit-|openai-|anthropic-|x-amzn-bedrock-|(?:request-id|x-amzn-requestid)$)/;
const TEXT = /^[\x20-\x7e]{1,256}$/;
/** How long SDKs wait between two polls: they would not understand anything else. */
const POLL_AFTER = 'openai-poll-after-ms';
const MILLISECONDS = /^\d{1,9}$/;
const MAX_HEADERS = 32;

/** The headers of a provider's answer that its caller gets too. */
export function passedHeaders(headers: UpstreamHeaders): Readonly<Record<string, string>> {
  const passed: [string, string][] = [];
  for (const name of Object.keys(headers)) {
    const value = PASSED.test(name) ? firstHeader(headers, name) : undefined;
    const form = name === POLL_AFTER ? MILLISECONDS : TEXT;
    if (value !== undefined && form.test(value) && passed.length < MAX_HEADERS) passed.push([name, value]);
  }
  return Object.fromEntries(passed);
}
