import type { BucketState, Reservation, ReserveOutcome } from '../usage/usage-store.types.js';
import { amountOf } from '../usage/usage-work.js';
import { remainingOf } from './limit-refusal.js';
import type { ProviderContext } from './provider-context.decorator.js';

/** Reports an admitted reservation: what is left of its limits, and which monitoring limit would have refused it. */
export function noteAdmission(
  { request: { facts }, answer }: Pick<ProviderContext, 'request' | 'answer'>,
  reservation: Reservation,
  { buckets }: ReserveOutcome & { readonly kind: 'admitted' },
): void {
  const remaining = remainingOf(buckets, reservation.charges);
  if (remaining !== undefined) answer.setHeader('x-gateway-limit-remaining', remaining);
  const monitored = monitoredRefusal(reservation, buckets);
  facts.limit_monitored ??= monitored?.result;
  facts.limit_monitored_policy ??= monitored?.policyId;
}

/** The refusal of a call that a monitoring limit would have caused if it were enforced. */
interface MonitoredRefusal {
  readonly result: 'exceeded' | 'contended';
  readonly policyId: string;
}

/**
 * The refusal that an admitted call would have got; `exceeded` takes precedence over `contended`.
 * @param buckets of the charges, in the same order; the reserved amount includes this call's own bound
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
