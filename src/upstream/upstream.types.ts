import type { Readable, Writable } from 'node:stream';
import type { MaybePromise } from '../common/maybe-promise.js';
import type { ClientConnection } from '../common/http/client-connection.js';

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

/** Which failed attempts may be repeated: `idempotent` repeats 408, 429, 5xx and broken connections, `connect` only connections that never came about. */
export type RetryMode = 'idempotent' | 'connect' | 'never';

export interface UpstreamCall {
  readonly request: UpstreamRequest;
  /** Bound for the whole call in milliseconds, retries and waits included. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly retry: RetryMode;
  /** Under another credential, say: they count among those that a call may have. */
  readonly attemptsMade?: number | undefined;
  readonly caller: ClientConnection;
  /** Called before each attempt; signatures that cover the time are made here. */
  readonly sign?: (request: UpstreamRequest, now: Date) => Promise<UpstreamRequest>;
  /** Told of each answer: whether its signature was refused, and the next one may be better. Believed once a call. */
  readonly renewSignature?: ((answer: UpstreamHead) => boolean) | undefined;
  /** Asked before each attempt is sent. What the first one throws is what the call rejects with; later ones end the retries. */
  readonly beforeAttempt?: ((number: number) => MaybePromise<void>) | undefined;
  /** Told when an attempt begins. One that was admitted only when the call was over already does not. Must not throw. */
  readonly onAttemptStart?: (() => void) | undefined;
  /** Told of each attempt that was admitted when it is over. Must not throw. */
  readonly onAttempt?: ((attempt: UpstreamAttempt) => void) | undefined;
}

/** One exchange whose bodies pass through as they come. It is never repeated: a stream cannot be sent twice. */
export interface UpstreamRelayCall {
  /** A body that is a stream is the client's to fail, and the relay's to read: to the end, even when nobody wants the rest. */
  readonly request: UpstreamStreamRequest;
  /**
   * Longest time in milliseconds in which nothing moves in either direction, connecting and the wait for the head
   * included. What the receiver of the answer lets wait does not count.
   */
  readonly idleTimeoutMs: number;
  /** The same from the head on, where a sink takes nothing but streams of events: they may be silent for long. */
  readonly eventIdleTimeoutMs?: number | undefined;
  /** Bound for an answer that no sink takes. */
  readonly maxBufferedBytes: number;
  readonly caller: ClientConnection;
  /** Called once, before the request is sent. */
  readonly sign?: (request: UpstreamStreamRequest, now: Date) => Promise<UpstreamStreamRequest>;
  /** As in UpstreamCall. */
  readonly onAttemptStart?: (() => void) | undefined;
  /**
   * Asked once, when the head has come. A stream gets the body as it comes and belongs to the relay from then on: ended
   * after the last byte, destroyed when the answer breaks off, so that nobody takes half of it for the whole. A stream of
   * events that has fallen silent between two of them is left open: it is the caller's to end. Without a sink the body is
   * held and returned. What this throws is what the call rejects with.
   */
  readonly sinkFor: (head: UpstreamHead) => Writable | undefined;
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
  /** No connection came about (DNS, TCP, TLS): the request was not sent. */
  | 'connect'
  /** The connection broke after the request was sent and before the answer began. */
  | 'broken'
  /** The answer began and was cut off or malformed. */
  | 'incomplete'
  /** A 100 or 101 that nobody asked for came, and with it the end of the connection: what follows it cannot be read. */
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

  constructor(
    readonly kind: UpstreamFailureKind,
    message: string,
    options: { cause?: unknown; wasSent?: boolean; head?: UpstreamHead | undefined } = {},
  ) {
    super(message, options);
    this.name = 'UpstreamFailure';
    this.head = options.head;
    this.wasSent = options.wasSent ?? (kind !== 'connect' && kind !== 'refused_by_egress');
  }

  /** The same after the head of the answer had come. */
  after(head: UpstreamHead): UpstreamFailure {
    return new UpstreamFailure(this.kind, this.message, { cause: this.cause, wasSent: this.wasSent, head });
  }

  /** The same before anything was sent. */
  unsent(): UpstreamFailure {
    return new UpstreamFailure(this.kind, this.message, { cause: this.cause, wasSent: false });
  }
}
