import type { DataSource } from 'typeorm';
import { type PreparedRow, type RowShape, GroupedInsert } from '../database/grouped-insert.js';
import { WriteBehind, type WriteBehindOptions } from '../database/write-behind.js';
import { figureColumns, isSameInLedger, ledgerColumns, rateColumns, traceColumn } from './ledger-columns.js';
import type { AppliedRate } from './prices/price.types.js';
import { UsageEvent } from './usage-event.entity.js';
import type { UsageObserver } from './usage-observer.js';
import type { UnlimitedUsage } from './usage-store.types.js';
import { isCountable } from './units.js';

const OWN = ['id', 'at', 'trace_id', 'cost_nano', 'tokens', 'quantities', 'first_token_ms'];

export type UsageNotesOptions = Omit<
  WriteBehindOptions<UnlimitedUsage, PreparedRow>,
  'prepare' | 'write' | 'onFailure' | 'onLoss'
>;

/** Writes the ledger rows of unlimited usage, after the answer. These rows change no counter. */
export class LedgerWriter {
  private readonly waiting: WriteBehind<UnlimitedUsage, PreparedRow>;
  private readonly rows: GroupedInsert<UnlimitedUsage>;

  constructor(
    dataSource: DataSource,
    private readonly observer: UsageObserver,
    options: UsageNotesOptions,
  ) {
    this.rows = new GroupedInsert(dataSource, dataSource.getMetadata(UsageEvent), OWN, SHAPE);
    this.waiting = new WriteBehind({
      ...options,
      prepare: this.rows.prepare,
      write: (rows) => this.write(rows),
      onFailure: (cause) => observer.batchFailed(cause),
      onLoss: (count) => observer.dropped(count),
    });
  }

  add(usage: UnlimitedUsage): void {
    if (isCountable(usage.figures)) this.waiting.add(usage);
    else this.observer.dropped(1);
  }

  flush(): Promise<void> {
    return this.waiting.flush();
  }

  /** Writes the waiting rows within a limited time. */
  close(): Promise<void> {
    return this.waiting.close();
  }

  private async write(rows: readonly PreparedRow[]): Promise<void> {
    const started = performance.now();
    await this.rows.insert(rows);
    this.observer.batchDone(rows.length, (performance.now() - started) / 1_000);
  }
}

/** Each call has its own trace. Its other columns often equal those of the call before. */
const SHAPE: RowShape<UnlimitedUsage> = {
  isAlike: (one, other) =>
    isSameInLedger(one.dimensions, other.dimensions) &&
    one.source === other.source &&
    one.outcome === other.outcome &&
    (one.rate === other.rate || isSameRate(one.rate, other.rate)),
  sharedOf: ({ dimensions, source, outcome, rate }) => {
    const { trace_id: _ownTrace, ...shared } = ledgerColumns(dimensions);
    return { ...shared, ...rateColumns(rate), source, outcome, bucket_ids: [], amounts: [] };
  },
  ownOf: ({ id, at, dimensions, figures, firstTokenMs }) => ({
    id,
    at: at.getTime(),
    trace_id: traceColumn(dimensions),
    ...figureColumns(figures),
    first_token_ms: firstTokenMs,
  }),
};

function isSameRate(one: AppliedRate, other: AppliedRate): boolean {
  const ids = other.priceIds;
  const isAlike = one.mode === other.mode && one.tier === other.tier && one.priceIds.length === ids.length;
  return isAlike && one.priceIds.every((id, place) => id === ids[place]);
}
