import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { AppConfig } from '../config/environment.js';
import { LongStatement } from '../database/long-statement.js';
import { Retention } from '../database/retention.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';

/**
 * Drops expired months of the ledger. Counters keep their usage: the charges of a month are first added to the
 * adjustments.
 */
@Injectable()
export class UsageLedgerRetention extends Retention {
  constructor(
    @Inject(LongStatement) private readonly statement: Pick<LongStatement, 'query'>,
    @Inject(DataSource) database: Pick<DataSource, 'query'>,
    { USAGE_LEDGER_DAYS: keptDays }: AppConfig,
    clock: Clock,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'info' | 'warn'>,
  ) {
    super({ database, clock, logger, keptDays, failureEvent: 'usage_ledger_retention_failed' });
  }

  protected override async deleteBefore(time: Date): Promise<void> {
    while (!this.isStopping) {
      const rows = await this.statement.query<{ readonly partition: string | null }>(
        'SELECT usage_drop_partition($1) AS partition',
        [time],
        this.signal,
      );
      const partition = rows?.[0]?.partition ?? undefined;
      if (partition === undefined) return;
      this.logger.info({ event: 'usage_ledger_dropped', partition });
    }
  }
}
