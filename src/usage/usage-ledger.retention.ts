import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { AppConfig } from '../config/environment.js';
import { Retention } from '../database/retention.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';

/** Drops months of the ledger that are past their time. Counters keep what they counted. */
@Injectable()
export class UsageLedgerRetention extends Retention {
  constructor(
    @Inject(DataSource) private readonly database: Pick<DataSource, 'query'>,
    { USAGE_LEDGER_DAYS: keptDays }: AppConfig,
    clock: Clock,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'info' | 'warn'>,
  ) {
    super({ database, clock, logger, keptDays, failureEvent: 'usage_ledger_retention_failed' });
  }

  protected override async deleteBefore(time: Date): Promise<void> {
    while (!this.isStopping) {
      const [row]: readonly { readonly partition: string | null }[] = await this.database.query(
        'SELECT usage_drop_partition($1) AS partition',
        [time],
      );
      const partition = row?.partition ?? undefined;
      if (partition === undefined) return;
      this.logger.info({ event: 'usage_ledger_dropped', partition });
    }
  }
}
