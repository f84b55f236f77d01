import type { RpcId } from '../mcp-error.js';
import type { InspectedBody } from './inspect-body.js';
import type { ScannedAnswer } from './message-scan.js';

/** A failure that the server reports inside its answer. `code` is that of a JSON-RPC error, if it can be read. */
export interface ReportedFailure {
  readonly kind: 'rpc_error' | 'tool_error';
  readonly code: number | undefined;
}

const TOOL_ERROR: ReportedFailure = { kind: 'tool_error', code: undefined };
/** Of the columns. */
const MAX_CODE = 2 ** 31 - 1;

/** What a server has answered to the requests of one body. */
export class ReportedOutcome {
  readonly #failures = new Map<RpcId, ReportedFailure>();
  readonly #open: Set<RpcId>;
  #hasEnded = false;

  private constructor(private readonly ids: ReadonlySet<RpcId>) {
    this.#open = new Set(ids);
  }

  /** Undefined for a body that asks for no answer. */
  static of(request: InspectedBody | undefined): ReportedOutcome | undefined {
    const ids = new Set<RpcId>();
    for (const { kind, id } of request?.messages ?? []) if (kind === 'request' && id !== undefined) ids.add(id);
    return ids.size === 0 ? undefined : new ReportedOutcome(ids);
  }

  /** Whether all requests are answered. */
  get isComplete(): boolean {
    return this.#open.size === 0;
  }

  /** Whether a stream has ended that was read to its end, and did not answer all requests. */
  get isMissing(): boolean {
    return this.#hasEnded && !this.isComplete;
  }

  noteEnd(): void {
    this.#hasEnded = true;
  }

  /** Of the whole body: of a batch, a JSON-RPC error before the error of a tool. */
  get failure(): ReportedFailure | undefined {
    let found: ReportedFailure | undefined;
    for (const failure of this.#failures.values()) if (found?.kind !== 'rpc_error') found = failure;
    return found;
  }

  /** Of one message. An error without a known id is about the whole body. */
  failureOf(id: RpcId | undefined): ReportedFailure | undefined {
    return this.#failures.get(id ?? null) ?? this.#failures.get(null);
  }

  /** @param id null: the server could not read the request */
  note(id: RpcId, answer: ScannedAnswer): void {
    this.#open.delete(id);
    const failure = failureIn(answer);
    if (failure === undefined) return;
    if (id === null ? failure.kind === 'rpc_error' : this.ids.has(id)) this.#failures.set(id, failure);
  }
}

export function idOfAnswer({ id }: ScannedAnswer): RpcId {
  try {
    const value: unknown = JSON.parse(id === '' ? 'null' : Buffer.from(id, 'latin1').toString());
    return typeof value === 'string' || typeof value === 'number' ? value : null;
  } catch {
    return null;
  }
}

function failureIn({ hasError, code, isToolError }: ScannedAnswer): ReportedFailure | undefined {
  if (!hasError) return isToolError ? TOOL_ERROR : undefined;
  const number = code === '' ? Number.NaN : Number(code);
  return { kind: 'rpc_error', code: Number.isInteger(number) && Math.abs(number) <= MAX_CODE ? number : undefined };
}
