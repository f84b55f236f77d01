import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LRUCache } from 'lru-cache';
import type { Repository } from 'typeorm';
import { describeDefect } from '../../common/errors/describe-error.js';
import { isStorableText } from '../../common/storable-text.js';
import { Clock } from '../../common/time/clock.js';
import { settledWithin } from '../../common/time/timeout.js';
import { WriteBehind } from '../../database/write-behind.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';
import { ResponsePin } from './response-pin.entity.js';

/** The parameter of paths that name a stored response. */
export const RESPONSE_ID = 'response_id';

const MAX_REMEMBERED = 10_000;
/** A slow database must not delay an answer for longer. */
const LONGEST_WAIT_MS = 1_000;
const MAX_ID_LENGTH = 255;

/** Remembers the virtual key of each stored response that a model route led to. */
@Injectable()
export class ResponsePins implements OnApplicationShutdown {
  /** Virtual key ids by organisation and response. */
  private readonly recent = new LRUCache<string, string>({ max: MAX_REMEMBERED });
  private readonly waiting: WriteBehind<ResponsePin, ResponsePin>;

  constructor(
    @InjectRepository(ResponsePin) private readonly pins: Repository<ResponsePin>,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {
    const warn = (responses: number, cause: unknown): void =>
      logger.warn({ event: 'response_pins_not_written', responses, error: describeDefect(cause) });
    this.waiting = new WriteBehind({
      prepare: (pin) => pin,
      write: async (rows) => {
        await pins
          .createQueryBuilder()
          .insert()
          .values([...rows])
          .orIgnore()
          .execute();
      },
      onFailure: (cause, count) => warn(count, cause),
      onLoss: (count, cause) => warn(count, cause),
      maxBatch: 500,
      maxWaiting: MAX_REMEMBERED,
      gatherMs: 200,
      retryPauseMs: 5_000,
      drainMs: 5_000,
    });
  }

  /**
   * Resolves when other replicas can find the pin. Until then, the client must not get the id of the response. Never
   * rejects.
   */
  async note(organisationId: string, responseId: string, virtualKeyId: string): Promise<void> {
    if (!isPinnable(responseId)) return;
    this.recent.set(keyOf(organisationId, responseId), virtualKeyId);
    this.waiting.add({ organisationId, responseId, virtualKeyId, createdAt: this.clock.now() });
    await settledWithin(LONGEST_WAIT_MS, this.waiting.flush());
  }

  /** The id of the virtual key; undefined when it is not known. */
  async find(organisationId: string, responseId: string): Promise<string | undefined> {
    const recent = this.recent.get(keyOf(organisationId, responseId));
    if (recent !== undefined || !isPinnable(responseId)) return recent;
    try {
      const row = await this.pins.findOneBy({ organisationId, responseId });
      return row?.virtualKeyId;
    } catch (cause) {
      // The call continues as if the response were not known.
      this.logger.warn({ event: 'response_pin_not_read', error: describeDefect(cause) });
      return undefined;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.waiting.close();
  }
}

function isPinnable(responseId: string): boolean {
  return responseId !== '' && responseId.length <= MAX_ID_LENGTH && isStorableText(responseId);
}

function keyOf(organisationId: string, responseId: string): string {
  return `${organisationId} ${responseId}`;
}
