import type { BodyWatcher } from '../../upstream/stream-exchange.js';
import { type UpstreamHead, firstHeader } from '../../upstream/upstream.types.js';
import type { RpcId } from '../mcp-error.js';
import { EventDataReader } from '../proxy/event-data-reader.js';
import { isJsonType } from '../proxy/readable-answer.js';
import { isEventStream, isPlain, mediaTypeOf } from '../proxy/response-head.js';
import type { InspectedBody } from './inspect-body.js';
import { MessageScan, type ScannedAnswer } from './message-scan.js';

/** A failure that the server reports inside its answer. `code` is that of a JSON-RPC error, if it can be read. */
export interface ReportedFailure {
  readonly kind: 'rpc_error' | 'tool_error';
  readonly code: number | undefined;
}

const TOOL_ERROR: ReportedFailure = { kind: 'tool_error', code: undefined };
/** Of the columns. */
const MAX_CODE = 2 ** 31 - 1;

/**
 * Reads the outcome of a call from the bytes of its answer while they pass. An answer that is too long or cannot be read counts
 * as one without a failure.
 */
export class AnswerOutcome implements BodyWatcher {
  readonly #scan = new MessageScan();
  readonly #events: EventDataReader | undefined;
  readonly #ids: ReadonlySet<RpcId>;
  readonly #failures = new Map<RpcId, ReportedFailure>();

  private constructor(ids: ReadonlySet<RpcId>, isStream: boolean) {
    this.#ids = ids;
    this.#events = isStream
      ? new EventDataReader(
          (bytes, start, end) => this.#scan.push(bytes, start, end),
          (type) => this.#endEvent(type),
        )
      : undefined;
  }

  /** Undefined for a request that asks for no answer, and for an answer that is neither JSON nor an event stream. */
  static of(request: InspectedBody | undefined, head: UpstreamHead): AnswerOutcome | undefined {
    const ids = new Set<RpcId>();
    for (const { kind, id } of request?.messages ?? []) if (kind === 'request' && id !== undefined) ids.add(id);
    if (ids.size === 0 || !isPlain(head)) return undefined;
    const isStream = isEventStream(head);
    if (!isStream && !isJsonType(mediaTypeOf(firstHeader(head.headers, 'content-type')))) return undefined;
    return new AnswerOutcome(ids, isStream);
  }

  push(chunk: Buffer): void {
    if (this.#events === undefined) this.#scan.push(chunk, 0, chunk.length);
    else this.#events.push(chunk);
  }

  end(): void {
    // An event that has not ended is dropped by its readers.
    if (this.#events === undefined) this.#note(this.#scan.take());
  }

  /** Of the whole request: of a batch, a JSON-RPC error before the error of a tool. */
  get failure(): ReportedFailure | undefined {
    let found: ReportedFailure | undefined;
    for (const failure of this.#failures.values()) if (found?.kind !== 'rpc_error') found = failure;
    return found;
  }

  /** Of one message. An error without a known id is about the whole request. */
  failureOf(id: RpcId | undefined): ReportedFailure | undefined {
    return this.#failures.get(id ?? null) ?? this.#failures.get(null);
  }

  #endEvent(type: string): void {
    const answers = this.#scan.take();
    if (type === '' || type === 'message') this.#note(answers);
  }

  #note(answers: readonly ScannedAnswer[]): void {
    for (const answer of answers) {
      const failure = failureIn(answer);
      if (failure === undefined) continue;
      const id = idOf(answer);
      // Without an id, the server could not read the request.
      if (id === null ? failure.kind === 'rpc_error' : this.#ids.has(id)) this.#failures.set(id, failure);
    }
  }
}

function failureIn({ hasError, code, isToolError }: ScannedAnswer): ReportedFailure | undefined {
  if (!hasError) return isToolError ? TOOL_ERROR : undefined;
  const number = code === '' ? Number.NaN : Number(code);
  return { kind: 'rpc_error', code: Number.isInteger(number) && Math.abs(number) <= MAX_CODE ? number : undefined };
}

function idOf({ id }: ScannedAnswer): RpcId {
  try {
    const value: unknown = JSON.parse(id === '' ? 'null' : Buffer.from(id, 'latin1').toString());
    return typeof value === 'string' || typeof value === 'number' ? value : null;
  } catch {
    return null;
  }
}
