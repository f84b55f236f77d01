import { toStorableText } from '../common/storable-text.js';
import { isoTexts } from '../common/time/clock.js';
import { figureColumns, ledgerColumns, settledRow } from './ledger-columns.js';
import type { BucketState, Charge, ExtendOutcome, Extension, Reservation, UsageFigures } from './usage-store.types.js';
import { tokensOf, toQuantitiesJson } from './units.js';
import { amountOf, type AmountCharge, MAX_COUNT, type UsageWork } from './usage-work.js';

/** Calls the database function, whose parameters are described in `migrations/functions/usage_batch.sql`. */
export const USAGE_BATCH = `SELECT * FROM usage_batch($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

/** A row as the driver returns it: bigints are text, and an array is null when the batch has none. */
export interface BatchRow {
  readonly o_outcomes: readonly number[] | null;
  readonly o_verdicts: readonly number[] | null;
  readonly o_used: readonly string[] | null;
  readonly o_reserved: readonly string[] | null;
  readonly o_lost: readonly string[] | null;
}

/** The outcomes by the numbers of the database function. */
const OUTCOMES = ['admitted', 'contended', 'crowded', 'exceeded', 'withdrawn', 'gone'] as const;

const MAX_VALUE_KEY = 2048;

const [begunText, endText] = [isoTexts(), isoTexts()];
const begun = (at: Date): string => begunText(at.getTime());
const ended = (at: Date): string => endText(at.getTime());

/** Collects the parameters of a batch, with each bucket once. */
class BatchWriter {
  private readonly buckets: Record<string, unknown>[] = [];
  private readonly places = new Map<string, number>();
  private readonly starts = [1];
  private readonly chargeBuckets: number[] = [];
  private readonly chargeAmounts: bigint[] = [];
  private readonly chargeLimits: bigint[] = [];
  private readonly chargeEnforced: boolean[] = [];
  private readonly rows: Record<'reserves' | 'settles' | 'records', object[]> = {
    reserves: [],
    settles: [],
    records: [],
  };

  add(work: UsageWork): void {
    switch (work.kind) {
      case 'reserve':
        return this.addReserve(work.reservation);
      case 'extend':
        return this.addExtension(work.extension);
      case 'settle': {
        const { reservation, ...settled } = work.settlement;
        this.rows.settles.push(settledRow(reservation.id, begun(reservation.at), settled));
        return;
      }
      case 'release':
        this.rows.settles.push({
          id: work.id,
          at: begun(work.at),
          is_released: true,
          expires_at: ended(work.expiresAt),
          is_final: work.isFinal,
        });
        return;
      case 'record':
        return this.addRecord(work);
    }
  }

  parameters(maxBuckets: number): readonly unknown[] {
    const { reserves, settles, records } = this.rows;
    const arrays = [this.starts, this.chargeBuckets, this.chargeAmounts, this.chargeLimits, this.chargeEnforced];
    return [
      JSON.stringify(this.buckets),
      JSON.stringify(reserves),
      // PostgreSQL's text format of arrays. The driver's own conversion would visit every element three times.
      ...arrays.map((column) => `{${column.join(',')}}`),
      JSON.stringify(settles),
      JSON.stringify(records),
      maxBuckets,
    ];
  }

  private addReserve(reservation: Reservation): void {
    const { id, at, leaseMs, dimensions, bound, rate, charges } = reservation;
    const expiresAt = new Date(at.getTime() + leaseMs);
    const row = ledgerColumns(dimensions);
    row['id'] = id;
    row['at'] = begun(at);
    row['expires_at'] = ended(expiresAt);
    row['cost_nano'] = String(bound.costNano);
    row['tokens'] = String(tokensOf(bound.quantities));
    row['quantities'] = toQuantitiesJson(bound.quantities);
    row['mode'] = rate.mode;
    row['tier'] = rate.tier;
    row['price_ids'] = rate.priceIds;
    this.rows.reserves.push(row);
    this.addCharges(charges, bound, dimensions.organisationId);
  }

  private addExtension({ reservation, bound, expiresAt }: Extension): void {
    const { id, at, dimensions, charges } = reservation;
    const times = { at: begun(at), expires_at: ended(expiresAt) };
    this.rows.reserves.push({ id, is_extension: true, ...times, ...figureColumns(bound) });
    this.addCharges(charges, bound, dimensions.organisationId);
  }

  private addCharges(charges: readonly Charge[], bound: UsageFigures, organisationId: string): void {
    for (const charge of charges) {
      this.chargeBuckets.push(this.place(charge, organisationId));
      this.chargeAmounts.push(amountOf(bound, charge));
      this.chargeLimits.push(limitOf(charge));
      this.chargeEnforced.push(charge.enforced);
    }
    this.starts.push(this.chargeBuckets.length + 1);
  }

  private addRecord({ usage, charges }: UsageWork & { readonly kind: 'record' }): void {
    const { id, at, dimensions, ...settled } = usage;
    // Usage without costs creates no bucket that counts costs.
    const counted = charges.filter(({ charge, amount }) => amount > 0n || charge.unit !== 'cost');
    const row = Object.assign(ledgerColumns(dimensions), settledRow(id, begun(at), settled));
    row['buckets'] = counted.map(({ charge }) => this.place(charge, dimensions.organisationId, true));
    row['amounts'] = counted.map(({ amount }: AmountCharge) => String(amount));
    this.rows.records.push(row);
  }

  private place(charge: Charge, organisationId: string, isNeeded = false): number {
    const key = `${charge.policyId} ${charge.bucketHash} ${charge.windowId}`;
    const place = this.places.get(key) ?? this.buckets.length + 1;
    this.places.set(key, place);
    // The last charge of a bucket applies: a policy may have changed between two calls of one batch.
    this.buckets[place - 1] = {
      policy_id: charge.policyId,
      bucket_hash: charge.bucketHash,
      window_id: charge.windowId,
      organisation_id: organisationId,
      workspace_id: charge.workspaceId,
      value_key: toStorableText(charge.valueKey, MAX_VALUE_KEY),
      unit: charge.unit,
      credit_limit: String(limitOf(charge)),
      alert_threshold: charge.threshold === undefined ? null : String(charge.threshold),
      resets_at: charge.resetsAt,
      is_needed: isNeeded || this.buckets[place - 1]?.['is_needed'] === true,
    };
    return place;
  }
}

/** The parameters of one call of `USAGE_BATCH`. */
export function batchParameters(works: readonly UsageWork[], maxBuckets: number): readonly unknown[] {
  const writer = new BatchWriter();
  for (const work of works) writer.add(work);
  return writer.parameters(maxBuckets);
}

/**
 * The outcome of each `reserve` and `extend` of the batch, in order; undefined when it was released before it arrived.
 */
export function admissionOutcomes(works: readonly UsageWork[], row: BatchRow): readonly (ExtendOutcome | undefined)[] {
  const outcomes: (ExtendOutcome | undefined)[] = [];
  let first = 0;
  for (const work of works) {
    if (work.kind !== 'reserve' && work.kind !== 'extend') continue;
    const { charges } = work.kind === 'reserve' ? work.reservation : work.extension.reservation;
    const states = charges.map((charge, index) => stateOf(charge, row, first + index));
    const kind = OUTCOMES[row.o_outcomes?.[outcomes.length] ?? -1];
    if (kind === undefined) throw new Error('usage_batch answered without an outcome');
    const start = first;
    const isFailing = (index: number): boolean =>
      charges[index]?.enforced === true && row.o_verdicts?.[start + index] !== 0;
    if (kind === 'withdrawn') outcomes.push(undefined);
    else if (kind === 'gone') outcomes.push({ kind, failing: [] });
    else if (kind === 'admitted') outcomes.push({ kind, buckets: states });
    else outcomes.push({ kind, failing: states.filter((_, index) => isFailing(index)) });
    first += charges.length;
  }
  return outcomes;
}

function stateOf(charge: Charge, { o_used, o_reserved }: BatchRow, index: number): BucketState {
  const { policyId, bucketHash, windowId, limit } = charge;
  const used = BigInt(o_used?.[index] ?? 0);
  return { policyId, bucketHash, windowId, limit, used, reserved: BigInt(o_reserved?.[index] ?? 0) };
}

export function limitOf({ limit }: Pick<Charge, 'limit'>): bigint {
  return limit > MAX_COUNT ? MAX_COUNT : limit;
}
