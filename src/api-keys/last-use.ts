import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { describeDefect } from '../common/errors/describe-error.js';
import { Clock } from '../common/time/clock.js';
import { WriteBehind } from '../database/write-behind.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { ApiKey } from './api-key.entity.js';

const GATHER_MS = 20_000;
const LIMITS = { maxBatch: 1_000, maxWaiting: 20_000, gatherMs: GATHER_MS, retryPauseMs: GATHER_MS, drainMs: 1_000 };

interface Use {
  readonly id: string;
  readonly organisationId: string;
  readonly at: Date;
}

const WRITE = `
  UPDATE "api_keys" AS k SET "last_used_at" = GREATEST(k."last_used_at", used."at")
  FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS used("id", "organisation_id", "at")
  WHERE k."id" = used."id" AND k."organisation_id" = used."organisation_id"`;

/**
 * Writes when keys were last used, behind the requests. A use is noted when a key is looked up in the database, every few
 * seconds while it is used, so that a request whose key is known has no work.
 */
@Injectable()
export class LastUse implements BeforeApplicationShutdown {
  private readonly uses: WriteBehind<Use, Use>;

  constructor(
    @InjectRepository(ApiKey) private readonly rows: Repository<ApiKey>,
    private readonly clock: Clock,
    @Inject(LOGGER) logger: Pick<Logger, 'warn'>,
  ) {
    this.uses = new WriteBehind({
      ...LIMITS,
      prepare: (use) => use,
      write: (uses) => this.write(uses),
      onFailure: (cause) => logger.warn({ event: 'key_uses_not_written', error: describeDefect(cause) }),
      onLoss: (count) => logger.warn({ event: 'key_uses_lost', count }),
    });
  }

  /** @param validUntil Unix milliseconds; a key that has expired is not in use */
  note({ id, organisationId }: Pick<ApiKey, 'id' | 'organisationId'>, validUntil: number): void {
    const at = this.clock.now();
    if (at.getTime() < validUntil) this.uses.add({ id, organisationId, at });
  }

  flush(): Promise<void> {
    return this.uses.flush();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.uses.close();
  }

  private async write(uses: readonly Use[]): Promise<void> {
    // Oldest first, so the last one of each key stays. In one order, or two gateways could wait for each other.
    const latest = [...new Map(uses.map((use) => [use.id, use])).values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    const columns = [latest.map(({ id }) => id), latest.map((use) => use.organisationId), latest.map(({ at }) => at)];
    await this.rows.query(WRITE, columns);
  }
}
