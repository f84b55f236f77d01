import type { DataSource, QueryRunner } from 'typeorm';
import { type BatchRow, batchParameters, USAGE_BATCH } from './usage-batch.js';
import type { UsageWork } from './usage-work.js';

/** Thrown when no connection was available for a batch, so that the database will never receive it. */
export class NotSentError extends Error {}

/**
 * Runs batches on the pool of the data source, one statement each, so that a connection is held only for that time. A
 * connection that does not answer in time is closed, since a late answer would be taken for that of the next batch.
 */
export class BatchConnection {
  /** @param timeoutMs undefined for the embedded database, which always answers */
  constructor(
    private readonly dataSource: DataSource,
    private readonly maxBuckets: number,
    private readonly timeoutMs: number | undefined,
  ) {}

  /** @throws NotSentError, or the error of a batch that may have been executed */
  run(works: readonly UsageWork[]): Promise<BatchRow> {
    const statement = new Statement(this.dataSource.createQueryRunner(), batchParameters(works, this.maxBuckets));
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown): void => reject(statement.wasSent ? cause : notSent(cause));
      const onTimeout = (): void => {
        fail(new Error('the database did not answer in time'));
        statement.giveUp();
      };
      const timer = this.timeoutMs === undefined ? undefined : setTimeout(onTimeout, this.timeoutMs);
      void statement
        .run()
        .then(resolve, fail)
        .finally(() => clearTimeout(timer));
    });
  }
}

/** One call of `USAGE_BATCH`. */
class Statement {
  private connection: { end(): Promise<void> } | undefined;
  private isGivenUp = false;

  constructor(
    private readonly runner: QueryRunner,
    private readonly parameters: readonly unknown[],
  ) {}

  get wasSent(): boolean {
    return this.connection !== undefined;
  }

  async run(): Promise<BatchRow> {
    try {
      const connection: { end(): Promise<void> } = await this.runner.connect();
      if (this.isGivenUp) throw new Error('the caller has stopped waiting for the answer');
      this.connection = connection;
      const [row]: readonly BatchRow[] = await this.runner.query(USAGE_BATCH, [...this.parameters]);
      if (row === undefined) throw new Error('usage_batch returned no row');
      return row;
    } finally {
      await this.runner.release();
    }
  }

  giveUp(): void {
    this.isGivenUp = true;
    this.connection?.end().catch(() => undefined);
  }
}

function notSent(cause: unknown): NotSentError {
  return new NotSentError('no connection to the database', { cause });
}
