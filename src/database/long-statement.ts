import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AppConfig } from '../config/environment.js';
import { TollgateDataSource } from './tollgate-data-source.js';

/** Runs a statement that may take minutes: on the connections of the pool, each ends after seconds. One at a time. */
@Injectable()
export class LongStatement {
  /** Of the server, while a statement runs. */
  private process: number | undefined;

  constructor(
    @Inject(DataSource) private readonly pool: Pick<DataSource, 'query'>,
    private readonly config: AppConfig,
  ) {}

  async query<Row>(sql: string, parameters: readonly unknown[]): Promise<readonly Row[]> {
    // The embedded database has one connection, and no limits.
    if (this.config.DATABASE_URL === undefined) return this.pool.query(sql, [...parameters]);
    const { DATABASE_URL, DATA_DIR } = this.config;
    const settings = { DATABASE_URL, DATA_DIR, DATABASE_POOL_SIZE: 1 };
    const own = await new TollgateDataSource(settings, [], { statementTimeout: 'none' }).initialize();
    try {
      const [row]: readonly { readonly pid: number }[] = await own.query('SELECT pg_backend_pid() AS pid');
      this.process = row?.pid;
      return await own.query(sql, [...parameters]);
    } finally {
      this.process = undefined;
      await own.destroy();
    }
  }

  /** The statement fails, and leaves nothing behind. */
  async cancel(): Promise<void> {
    if (this.process !== undefined) await this.pool.query('SELECT pg_cancel_backend($1)', [this.process]);
  }
}
