import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GatewayError } from '../common/errors/gateway.error.js';
import { isStatementCanceled } from '../database/database-errors.js';
import { ReportSlots } from './report-slots.js';
import type { Statement } from './report-statement.js';

/** Shorter than the driver's own limit: a statement that only the driver gives up continues in the database. */
const REPORT_MS = 4_000;
/** Reports must leave connections to the calls, which wait at most 1.5 seconds for their counters. */
const MAX_AT_ONCE = 3;
/** The memory of a sort. Grouping may use twice as much. */
const WORK_MEMORY = '32MB';
const WAIT_MS = 2_000;
const RETRY_AFTER_SECONDS = '2';

export type ReadRows = <Row>(statement: Statement) => Promise<readonly Row[]>;

/**
 * Runs queries that may read much of the ledger, without slowing calls or other organisations down. Few run at once,
 * and all statements of a report share one time limit. The embedded database has no such limit.
 */
@Injectable()
export class ReportQueries {
  private readonly slots: ReportSlots;

  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {
    const { poolSize = 1 } = dataSource.options;
    const all = Math.max(1, Math.min(MAX_AT_ONCE, poolSize - 1));
    this.slots = new ReportSlots({ all, each: Math.max(1, all - 1), waitMs: WAIT_MS });
  }

  /**
   * Runs `work` with all of its statements in one transaction.
   * @throws GatewayError `report_busy`, `report_too_large`
   */
  async run<Result>(organisationId: string, work: (read: ReadRows) => Promise<Result>): Promise<Result> {
    if (!(await this.slots.begin(organisationId))) {
      throw new GatewayError('report_busy', { headers: { 'retry-after': RETRY_AFTER_SECONDS } });
    }
    try {
      return await this.dataSource.transaction(async (manager) => {
        // Groups that exceed this memory are written to files. JIT is off, since compiling takes longer than running
        // the statement.
        await manager.query(`SET LOCAL work_mem = '${WORK_MEMORY}'; SET LOCAL jit = off`);
        const endMs = performance.now() + REPORT_MS;
        return work(async ({ sql, parameters }) => {
          // 0 would mean no limit.
          const leftMs = Math.max(1, Math.floor(endMs - performance.now()));
          await manager.query(`SET LOCAL statement_timeout = ${leftMs}`);
          return manager.query(sql, [...parameters]);
        });
      });
    } catch (cause) {
      throw isStatementCanceled(cause) ? new GatewayError('report_too_large', { param: 'from', cause }) : cause;
    } finally {
      this.slots.end(organisationId);
    }
  }
}
