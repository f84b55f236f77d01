import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { Clock } from '../../common/time/clock.js';
import type { McpCaller } from '../../identity/claims/mcp-caller.js';
import { doneWithin } from '../../common/time/done-within.js';
import type { EndStream } from '../proxy/mcp-proxy.types.js';
import type { AuthenticatedMcpCaller } from './mcp-request.js';

/** Tokens end at a second. */
const TICK_MS = 1_000;
/** A change must be felt within 10 s, and keys and servers are remembered for 5 s of them. */
const TICKS_PER_ROUND = 3;
/** Look-ups that are not in memory wait for the database together. */
const LOOKS_AT_ONCE = 16;
/** A look that takes longer goes on by itself: a provider that hangs must not keep the streams of others open. */
const PATIENCE_MS = 50;
/** Statuses that say no to the caller; others say that something cannot be told right now. */
const REFUSALS: readonly number[] = [401, 403, 404, 409];

/** A request on whose answer a stream runs. */
export interface Streaming extends Pick<AuthenticatedMcpCaller, 'recheck'> {
  readonly caller: Pick<McpCaller, 'kind' | 'claims'>;
}

interface OpenStream {
  readonly recheck: AuthenticatedMcpCaller['recheck'];
  /** Unix milliseconds, of a user's token. */
  readonly expiresAt: number;
  readonly end: EndStream;
  isLookedAt: boolean;
}

/** Ends streams whose callers would not be let in any more: a key or token that has ended, a server that is disabled. */
@Injectable()
export class OpenStreams implements OnApplicationShutdown {
  private readonly streams = new Set<OpenStream>();
  /** What is left of the round. */
  private readonly due = new Set<OpenStream>();
  private timer: NodeJS.Timeout | undefined;
  private ticks = 0;
  private isLooking = false;

  constructor(private readonly clock: Clock) {}

  /** Returns what is to be called when the stream is over. */
  watch({ caller, recheck }: Streaming, end: EndStream): () => void {
    const stream = { recheck, expiresAt: expiryOf(caller), end, isLookedAt: false };
    this.streams.add(stream);
    this.timer ??= setInterval(() => this.tick(), TICK_MS).unref();
    return () => {
      this.streams.delete(stream);
      this.due.delete(stream);
      if (this.streams.size === 0) this.stop();
    };
  }

  onApplicationShutdown(): void {
    this.stop();
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private tick(): void {
    this.ticks += 1;
    const isRound = this.ticks % TICKS_PER_ROUND === 0;
    const now = this.clock.now().getTime();
    for (const stream of this.streams) {
      if (stream.expiresAt <= now) void this.lookAt(stream);
      else if (isRound) this.due.add(stream);
    }
    void this.lookAtDue();
  }

  private async lookAtDue(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, async () => this.lookAtNext()));
    this.isLooking = false;
  }

  /** Takes the next of those that are left, again and again. */
  private async lookAtNext(): Promise<void> {
    for (const stream of this.due) {
      this.due.delete(stream);
      await doneWithin(PATIENCE_MS, this.lookAt(stream));
    }
  }

  /** Never rejects: whatever a look comes to says whether the stream goes on. */
  private async lookAt(stream: OpenStream): Promise<void> {
    if (stream.isLookedAt) return;
    stream.isLookedAt = true;
    const refusal = await this.refusalOf(stream);
    stream.isLookedAt = false;
    if (refusal !== undefined && this.streams.has(stream)) stream.end(refusal);
  }

  private async refusalOf({ recheck, expiresAt }: OpenStream): Promise<GatewayError | undefined> {
    try {
      await recheck(this.clock.now());
      return undefined;
    } catch (error) {
      if (error instanceof GatewayError && REFUSALS.includes(error.status)) return error;
      // Nobody can tell while a database or a provider is down; but that a token is over, it said itself.
      return expiresAt <= this.clock.now().getTime()
        ? new GatewayError('token_invalid', { reason: 'expired', cause: error })
        : undefined;
    }
  }
}

/** A key's end is looked at with the key: what a key says of its user may be called `exp` as well. */
function expiryOf({ kind, claims }: Streaming['caller']): number {
  const exp = kind === 'api_key' ? undefined : claims['exp'];
  return typeof exp === 'number' ? exp * 1_000 : Infinity;
}
