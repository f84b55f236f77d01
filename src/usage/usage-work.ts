import { isCountable, tokensOf } from './units.js';
import type { Charge, Extension, Reservation, Settlement, UnlimitedUsage, UsageFigures } from './usage-store.types.js';

/** A charge with its amount, in the unit of its policy. */
export interface AmountCharge {
  readonly charge: Charge;
  readonly amount: bigint;
}

/** Work whose caller waits for the outcome. */
export type Admission =
  | { readonly kind: 'reserve'; readonly id: string; readonly reservation: Reservation }
  | { readonly kind: 'extend'; readonly id: string; readonly extension: Extension };

/** One item of a batch. The id is the one of the call; a batch has one item per id. */
export type UsageWork =
  | Admission
  | { readonly kind: 'settle'; readonly id: string; readonly settlement: Settlement }
  | {
      readonly kind: 'release';
      readonly id: string;
      readonly at: Date;
      /** The time until which a reservation that arrives after its release is refused. */
      readonly expiresAt: Date;
      /** Whether the call was refused while a statement that admits it may be in flight. */
      readonly isFinal: boolean;
    }
  | {
      readonly kind: 'record';
      readonly id: string;
      readonly usage: UnlimitedUsage;
      /** The charges of a lost reservation. */
      readonly charges: readonly AmountCharge[];
    };

export function isAdmission(work: UsageWork): work is Admission {
  return work.kind === 'reserve' || work.kind === 'extend';
}

/** The maximum of a counter: PostgreSQL's bigint, less room for calls in flight. A higher limit has the same effect. */
export const MAX_COUNT = 9_000_000_000_000_000_000n;

/** The amount of a charge, in its policy's unit: nano-dollars or tokens. */
export function amountOf(figures: UsageFigures, { unit }: Charge): bigint {
  return unit === 'cost' ? figures.costNano : tokensOf(figures.quantities);
}

/** Throws RangeError for figures that a counter cannot hold. */
export function assertCountable(figures: UsageFigures): void {
  if (!isCountable(figures)) throw new RangeError('a figure is outside of what can be counted');
}

/** Converts a settlement whose reservation is lost to usage of its own. */
export function asRecord({ reservation, ...settlement }: Settlement): UsageWork {
  const { id, at, dimensions, charges } = reservation;
  return {
    kind: 'record',
    id,
    usage: { id, at, dimensions, ...settlement },
    charges: charges.map((charge) => ({ charge, amount: amountOf(settlement.figures, charge) })),
  };
}
