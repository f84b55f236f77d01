import { isCountable, tokensOf } from './units.js';
import type { Charge, Extension, Reservation, Settlement, UnlimitedUsage, UsageFigures } from './usage-store.types.js';

/** A charge with its amount, in the unit of its policy. */
export interface AmountCharge {
  readonly charge: Charge;
  readonly amount: bigint;
}

/** What a caller waits for. */
export type Admission =
  | { readonly kind: 'reserve'; readonly id: string; readonly reservation: Reservation }
  | { readonly kind: 'extend'; readonly id: string; readonly extension: Extension };

/** One thing to do in a batch. The id is that of the call; a batch has one work for each id. */
export type UsageWork =
  | Admission
  | { readonly kind: 'settle'; readonly id: string; readonly settlement: Settlement }
  | {
      readonly kind: 'release';
      readonly id: string;
      readonly at: Date;
      /** Until when a reservation that arrives after its release is refused. */
      readonly expiresAt: Date;
      /** The call was refused, but a statement that admits it may be in flight. */
      readonly isFinal: boolean;
    }
  | {
      readonly kind: 'record';
      readonly id: string;
      readonly usage: UnlimitedUsage;
      /** Of a reservation that got lost. */
      readonly charges: readonly AmountCharge[];
    };

export function isAdmission(work: UsageWork): work is Admission {
  return work.kind === 'reserve' || work.kind === 'extend';
}

/** The maximum of a counter: PostgreSQL's bigint, less room for calls in flight. A higher limit has the same effect. */
export const MAX_COUNT = 9_000_000_000_000_000_000n;

/** What a charge comes to: money or tokens, as its policy counts. */
export function amountOf(figures: UsageFigures, { unit }: Charge): bigint {
  return unit === 'cost' ? figures.costNano : tokensOf(figures.quantities);
}

/** Figures that a counter could not hold must not get as far as the counter. */
export function assertCountable(figures: UsageFigures): void {
  if (!isCountable(figures)) throw new RangeError('a figure is outside of what can be counted');
}

/** A settlement whose reservation is not there any more, as usage in its own right. */
export function asRecord({ reservation, ...settlement }: Settlement): UsageWork {
  const { id, at, dimensions, charges } = reservation;
  return {
    kind: 'record',
    id,
    usage: { id, at, dimensions, ...settlement },
    charges: charges.map((charge) => ({ charge, amount: amountOf(settlement.figures, charge) })),
  };
}
