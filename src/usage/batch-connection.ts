import { type DataSource, QueryFailedError, type QueryRunner } from 'typeorm';
import { errorCodeOf } from '../common/errors/error-code-of.js';
import { type BatchRow, batchParameters, USAGE_BATCH } from './usage-batch.js';
import type { UsageWork } from './usage-work.js';

/** SQLSTATE classes "data exception" and "integrity constraint violation": an item of the batch is at fault. */
const FAULT_OF_AN_ITEM = /^2[23]/;

/** Whether the batch would fail however often it is sent. */
export function isFaultOfAnItem(error: unknown): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  return FAULT_OF_AN_ITEM.test(errorCodeOf(error.driverError) ?? '');
}

/** There was no connection to send the batch on: whatever comes, the database never hears of it. */
export class NotSentError extends Error {}

/**
 * Runs batches on the data source's pool, one statement each: it holds a connection only as long as that takes. One that
 * does not answer in time is closed, since an answer that comes later would be taken for another's.
 */
export class BatchConnection {
  /** @param timeoutMs undefined: the database is embedded, and always answers */
  constructor(
    private readonly dataSource: DataSource,
    private readonly maxBuckets: number,
    private readonly timeoutMs: number | undefined,
  ) {}

  /** @throws NotSentError, or what came of a batch that may have been done */
  async run(works: readonly UsageWork[]): Promise<BatchRow> {
    const parameters = batchParameters(works, this.maxBuckets);
    const runner = this.dataSource.createQueryRunner();
    const timedOut = new AbortController();
    let isSent = false;
    const answer = query(runner, parameters, timedOut.signal, () => (isSent = true));
    const timer = this.timeoutMs === undefined ? undefined : setTimeout(() => timedOut.abort(), this.timeoutMs);
    try {
      return await Promise.race([answer, rejectWhen(timedOut.signal)]);
    } catch (cause) {
      throw isSent ? cause : new NotSentError('no connection to the database', { cause });
    } finally {
      clearTimeout(timer);
      answer.catch(() => undefined);
    }
  }
}

async function query(
  runner: QueryRunner,
  parameters: readonly unknown[],
  signal: AbortSignal,
  onSending: () => void,
): Promise<BatchRow> {
  try {
    const connection: { end(): Promise<void> } = await runner.connect();
    signal.throwIfAborted();
    signal.addEventListener('abort', () => void connection.end().catch(() => undefined), { once: true });
    onSending();
    const [row]: readonly BatchRow[] = await runner.query(USAGE_BATCH, [...parameters]);
    if (row === undefined) throw new Error('usage_batch returned no row');
    return row;
  } finally {
    await runner.release();
  }
}

function rejectWhen(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('the database did not answer in time')), { once: true });
  });
}
