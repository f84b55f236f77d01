import type { BucketState, Reservation } from '../usage/usage-store.types.js';
import { amountOf } from '../usage/usage-work.js';

/** What a limit that only monitors would have said to a call. */
export interface MonitoredRefusal {
  readonly result: 'exceeded' | 'contended';
  readonly policyId: string;
}

/**
 * The refusal that an admitted call was spared, `exceeded` before `contended`.
 * @param buckets of the charges, in their order, this call's own bound among what is reserved
 */
export function monitoredRefusal(
  { charges, bound }: Pick<Reservation, 'charges' | 'bound'>,
  buckets: readonly BucketState[],
): MonitoredRefusal | undefined {
  let contended: MonitoredRefusal | undefined;
  for (const [index, charge] of charges.entries()) {
    const bucket = buckets[index];
    if (charge.enforced || bucket === undefined) continue;
    const { policyId, limit } = charge;
    if (bucket.used + amountOf(bound, charge) > limit) return { result: 'exceeded', policyId };
    if (bucket.used + bucket.reserved > limit) contended ??= { result: 'contended', policyId };
  }
  return contended;
}
