import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { describeDefect } from '../common/errors/describe-error.js';
import { Clock } from '../common/time/clock.js';
import { WakeableLoop } from '../common/time/wakeable-loop.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { NOTICE } from './webhook-events.js';

/** A key that lives for less is not reported. */
const INTERVAL_MS = 60_000;

/**
 * Two notices of each key: within a week of its end, and within a day. $1 is now. The key of a notice has the end in it.
 * A key for less than an hour would be reported as soon as it is made: programs that make such keys replace them by
 * themselves. It is reported when a tenth of its life is left, at least two minutes, in which a sweep falls.
 */
const noticesOf = (table: string, type: string, name: string): string => `
  INSERT INTO "webhook_outbox" ("organisation_id", "workspace_id", "type", "dedupe_key", "payload")
  SELECT k."organisation_id", k."workspace_id", '${type}',
    concat_ws(':', '${NOTICE}${type}', k."id", extract(epoch FROM k."expires_at")::bigint, lead."days"),
    jsonb_build_object('id', k."id", 'name', k."name", '${name}', k."${name}", 'days', lead."days", 'expires_at',
      to_char(k."expires_at" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  FROM "${table}" AS k
  JOIN (VALUES (1, 0), (7, 1)) AS lead("days", "after")
    ON k."expires_at" > $1::timestamptz + lead."after" * interval '1 day'
    AND k."expires_at" <= $1::timestamptz + CASE
      WHEN k."expires_at" - k."updated_at" < interval '1 hour'
        THEN GREATEST((k."expires_at" - k."updated_at") / 10, interval '2 minutes')
      ELSE lead."days" * interval '1 day' END
  ON CONFLICT ("dedupe_key") DO NOTHING`;

const STATEMENTS = [
  noticesOf('api_keys', 'api_key.expiring', 'prefix'),
  noticesOf('virtual_keys', 'virtual_key.expiring', 'slug'),
];

/** Reports keys that are about to expire: at the start, then every minute. Replicas may do so beside each other. */
@Injectable()
export class ExpiryNotices implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop = new WakeableLoop(() => this.sweep(), INTERVAL_MS);

  constructor(
    @Inject(DataSource)
    private readonly database: { query(statement: string, parameters: unknown[]): Promise<unknown> },
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.loop.wake();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  /** Never rejects: the next sweep finds what this one has left out. */
  async sweep(): Promise<void> {
    try {
      for (const statement of STATEMENTS) await this.database.query(statement, [this.clock.now()]);
    } catch (cause) {
      this.logger.warn({ event: 'expiry_notices_failed', error: describeDefect(cause) });
    }
  }
}
