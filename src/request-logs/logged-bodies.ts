import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { describeDefect } from '../common/errors/describe-error.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { Clock } from '../common/time/clock.js';
import { WriteBehind } from '../database/write-behind.js';
import { Sealer, SealError } from '../sealing/sealer.js';
import type { CapturedBodies } from '../telemetry/body-capture.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { type BodyKey, type BodyStore, dayOf, placeOf } from './body-store.js';
import { failureReason } from '../upstream/failure-reason.js';
import { BODY_STORE } from './body-store.provider.js';
import { packed, type PackedBodies, unpacked } from './packed-bodies.js';

const DAY_MS = 86_400_000;
/** Of bodies that wait for the store, as they came. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

interface LoggedCall {
  readonly organisationId: string;
  /** The id of the call's row in the log. */
  readonly id: string;
}

interface Waiting {
  readonly key: BodyKey;
  readonly bodies: CapturedBodies;
}

/** Writes the bodies of calls to their store, after the answer, and reads them. Bodies are dropped while the store is away. */
@Injectable()
export class LoggedBodies implements OnApplicationShutdown {
  private readonly waiting: WriteBehind<Waiting, Waiting>;

  constructor(
    @Inject(BODY_STORE) private readonly store: BodyStore | undefined,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.waiting = new WriteBehind({
      prepare: (item) => item,
      write: (items) => this.write(items),
      sizeOf: ({ bodies: { request, response } }) => (request?.bytes.length ?? 0) + (response?.bytes.length ?? 0) + 1,
      onFailure: (cause, calls) =>
        logger.warn({
          event: 'request_bodies_not_written',
          calls,
          reason: failureReason(cause),
          error: describeDefect(cause),
        }),
      onLoss: (calls) => logger.error({ event: 'request_bodies_lost', calls }),
      maxBatch: 16,
      maxWaiting: MAX_WAITING_BYTES,
      gatherMs: 100,
      retryPauseMs: 5_000,
      drainMs: 5_000,
    });
  }

  /** Returns until when they are kept; undefined: they are not. */
  keep(call: LoggedCall, bodies: CapturedBodies, endedAt: Date): Date | undefined {
    if (this.store === undefined) return undefined;
    const until = new Date(endedAt.getTime() + bodies.rules.retentionDays * DAY_MS);
    return this.waiting.add({ key: keyOf(call, until), bodies }) ? until : undefined;
  }

  /**
   * Undefined: they are kept no longer, or were lost on their way to the store.
   * @throws GatewayError `store_unavailable`
   */
  async read(call: LoggedCall, until: Date): Promise<PackedBodies | undefined> {
    if (this.store === undefined || until <= this.clock.now()) return undefined;
    const key = keyOf(call, until);
    const sealed = await this.store.get(key).catch(unavailable);
    return sealed === undefined ? undefined : unpacked(this.opened(sealed, key));
  }

  /** All whose last day is over. */
  async deleteExpired(isStopping: () => boolean): Promise<void> {
    if (this.store === undefined) return;
    const today = dayOf(this.clock.now());
    for (const day of await this.store.days()) {
      if (day < today && !isStopping()) await this.store.deleteDay(day, isStopping);
    }
  }

  flush(): Promise<void> {
    return this.waiting.flush();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.waiting.close();
    await this.store?.close();
  }

  private async write(items: readonly Waiting[]): Promise<void> {
    const { store, sealer } = this;
    const written = items.map(async ({ key, bodies }) =>
      store?.put(key, sealer.seal(await packed(bodies), placeOf(key))),
    );
    const failed = (await Promise.allSettled(written)).find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  private opened(sealed: string, key: BodyKey): Buffer {
    try {
      return this.sealer.openBytes(sealed, placeOf(key));
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      this.logger.warn({ event: 'request_bodies_not_opened', error: error.message });
      throw new GatewayError('not_found', { message: 'The bodies do not open: their encryption key is gone.' });
    }
  }
}

function keyOf({ organisationId, id }: LoggedCall, until: Date): BodyKey {
  return { organisationId, id, day: dayOf(until) };
}

function unavailable(cause: unknown): never {
  throw new GatewayError('store_unavailable', { cause, message: 'The store of bodies does not answer.' });
}
