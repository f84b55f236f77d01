import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AppConfig } from '../config/environment.js';
import { TollgateDataSource } from './tollgate-data-source.js';

/** Runs statements that may take minutes: on the connections of the pool, each ends after seconds. */
@Injectable()
export class LongStatement {
  constructor(
    @Inject(DataSource) private readonly pool: Pick<DataSource, 'query'>,
    private readonly config: AppConfig,
  ) {}

  /**
   * @param signal of the end of the gateway: the statement then fails, and leaves nothing behind
   * @returns undefined: another replica runs the same statement
   */
  async query<Row>(
    sql: string,
    parameters: readonly unknown[],
    signal: AbortSignal,
  ): Promise<readonly Row[] | undefined> {
    // The embedded database has one connection, and no limits.
    if (this.config.DATABASE_URL === undefined) return this.pool.query(sql, [...parameters]);
    const { DATABASE_URL, DATA_DIR } = this.config;
    const settings = { DATABASE_URL, DATA_DIR, DATABASE_POOL_SIZE: 1 };
    signal.throwIfAborted();
    const own = await new TollgateDataSource(settings, [], { statementTimeout: 'none' }).initialize();
    let pid: number | undefined;
    const cancel = (): void => {
      if (pid !== undefined) this.pool.query('SELECT pg_cancel_backend($1)', [pid]).catch(() => undefined);
    };
    signal.addEventListener('abort', cancel);
    try {
      const [session]: readonly { readonly pid: number; readonly isAlone: boolean }[] = await own.query(LOCK, [sql]);
      signal.throwIfAborted();
      pid = session?.pid;
      return session?.isAlone === true ? await own.query(sql, [...parameters]) : undefined;
    } finally {
      signal.removeEventListener('abort', cancel);
      await own.destroy();
    }
  }
}

/** The lock is held until the connection ends. */
const LOCK = `SELECT pg_backend_pid() AS pid, pg_try_advisory_lock(hashtextextended($1, 7160234)) AS "isAlone"`;
