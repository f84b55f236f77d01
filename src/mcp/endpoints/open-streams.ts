import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { Clock } from '../../common/time/clock.js';
import type { McpCaller } from '../../identity/claims/mcp-caller.js';
import { settledWithin } from '../../common/time/timeout.js';
import type { EndStream } from '../proxy/mcp-proxy.types.js';
import type { AuthenticatedMcpCaller } from './mcp-request.js';

/** Tokens expire at a whole second. */
const TICK_MS = 1_000;
/** A change must take effect within 10 s, and keys and servers are cached for 5 s. */
const TICKS_PER_ROUND = 3;
/** Concurrent checks. Checks that miss the cache wait for the database. */
const CHECKS_AT_ONCE = 16;
/** A slower check continues in the background: a provider that hangs must not delay the checks of other streams. */
const PATIENCE_MS = 50;
/** Statuses of a refusal. Other errors mean that the caller cannot be checked right now. */
const REFUSALS: readonly number[] = [401, 403, 404, 409];

/** A call whose answer is a stream. */
export interface Streaming extends Pick<AuthenticatedMcpCaller, 'recheck'> {
  readonly caller: Pick<McpCaller, 'kind' | 'claims'>;
}

interface OpenStream {
  readonly recheck: AuthenticatedMcpCaller['recheck'];
  /** Unix milliseconds, of a user's token. */
  readonly expiresAt: number;
  readonly end: EndStream;
  isBeingChecked: boolean;
}

/** Ends open streams whose callers have lost access: an expired key or token, a disabled server. */
@Injectable()
export class OpenStreams implements OnApplicationShutdown {
  private readonly streams = new Set<OpenStream>();
  /** Streams that are still to be checked in this round. */
  private readonly due = new Set<OpenStream>();
  private timer: NodeJS.Timeout | undefined;
  private ticks = 0;
  private isChecking = false;

  constructor(private readonly clock: Clock) {}

  /** Returns a function to call when the stream is over. */
  watch({ caller, recheck }: Streaming, end: EndStream): () => void {
    const stream = { recheck, expiresAt: expiryOf(caller), end, isBeingChecked: false };
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
      if (stream.expiresAt <= now) void this.check(stream);
      else if (isRound) this.due.add(stream);
    }
    void this.checkDue();
  }

  private async checkDue(): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, async () => this.checkNext()));
    this.isChecking = false;
  }

  /** Checks due streams until none is left. */
  private async checkNext(): Promise<void> {
    for (const stream of this.due) {
      this.due.delete(stream);
      await settledWithin(PATIENCE_MS, this.check(stream));
    }
  }

  /** Never rejects. */
  private async check(stream: OpenStream): Promise<void> {
    if (stream.isBeingChecked) return;
    stream.isBeingChecked = true;
    const refusal = await this.refusalOf(stream);
    stream.isBeingChecked = false;
    if (refusal !== undefined && this.streams.has(stream)) stream.end(refusal);
  }

  private async refusalOf({ recheck, expiresAt }: OpenStream): Promise<GatewayError | undefined> {
    try {
      await recheck(this.clock.now());
      return undefined;
    } catch (error) {
      if (error instanceof GatewayError && REFUSALS.includes(error.status)) return error;
      // While a database or a provider is down, only the token's own expiry is known.
      return expiresAt <= this.clock.now().getTime()
        ? new GatewayError('token_invalid', { reason: 'expired', cause: error })
        : undefined;
    }
  }
}

/** Of a token only. A key's expiry is checked with the key, and a claim of the key's user may be called `exp` too. */
function expiryOf({ kind, claims }: Streaming['caller']): number {
  const exp = kind === 'api_key' ? undefined : claims['exp'];
  return typeof exp === 'number' ? exp * 1_000 : Infinity;
}
