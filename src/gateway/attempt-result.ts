import { assertNever } from '../common/assert-never.js';
import type { UpstreamAttempt } from '../upstream/upstream.types.js';

/**
 * What an attempt at a provider costs. `nothing_sent`: it does not count at all. `free`: it counts, at no cost. `unknown`:
 * the provider may have done the work. `answered`: the answer reports the cost.
 */
export type AttemptResult = 'nothing_sent' | 'free' | 'unknown' | 'answered';

export function outcomeOfAttempt({ wasSent, status, failure }: UpstreamAttempt): AttemptResult {
  if (!wasSent) return 'nothing_sent';
  if (failure === undefined) return status !== undefined && status >= 200 && status <= 299 ? 'answered' : 'free';
  switch (failure) {
    case 'connect':
    case 'refused_by_egress':
    case 'busy':
      return 'nothing_sent';
    case 'redirect':
      return 'free';
    case 'broken':
    case 'incomplete':
    case 'interim':
    case 'timeout':
    case 'too_large':
    case 'caller_gone':
      return 'unknown';
    default:
      return assertNever(failure);
  }
}
