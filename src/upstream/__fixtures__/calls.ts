import { NEVER_ABORTED, type ClientConnection } from '../../common/http/client-connection.js';
import { EgressPolicy } from '../egress/egress-policy.js';
import { UpstreamFailure, type UpstreamCall, type UpstreamRelayCall } from '../upstream.types.js';

/** What the tests of this room may reach: this machine. */
const LOOPBACK = ['127.0.0.1/32', '::1/128', 'localhost'] as const;

export function loopbackPolicy(): EgressPolicy {
  return new EgressPolicy(LOOPBACK);
}

/** A call that is well-formed, and more patient than `until`; change what the test is about. */
export function callTo(url: URL, changes: Partial<UpstreamCall> = {}): UpstreamCall {
  return {
    request: { method: 'GET', url, headers: {} },
    timeoutMs: 60_000,
    maxResponseBytes: 100_000,
    retry: 'never',
    caller: NEVER_ABORTED,
    ...changes,
  };
}

/** The same for a relayed call; its answer is held in memory. */
export function relayTo(url: URL, changes: Partial<UpstreamRelayCall> = {}): UpstreamRelayCall {
  return {
    request: { method: 'GET', url, headers: {} },
    idleTimeoutMs: 60_000,
    maxBufferedBytes: 100_000,
    caller: NEVER_ABORTED,
    sinkFor: () => undefined,
    ...changes,
  };
}

/** A caller that leaves when told to. */
export class FakeCaller implements ClientConnection {
  readonly listeners = new Set<() => void>();
  aborted = false;

  onAbort(listener: () => void): () => void {
    if (this.aborted) listener();
    else this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  leave(): void {
    this.aborted = true;
    for (const listener of this.listeners) listener();
  }
}

/** The failure that a call must end with. */
export async function failureOf(work: Promise<unknown>): Promise<UpstreamFailure> {
  const outcome: unknown = await work.then(
    () => 'an answer',
    (error: unknown) => error,
  );
  if (outcome instanceof UpstreamFailure) return outcome;
  throw new Error('expected an UpstreamFailure', { cause: outcome });
}

/** Waits until something outside the test's control has happened; fails after half a minute. */
export async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error('waited in vain');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
