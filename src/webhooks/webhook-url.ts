import { fieldError, type ErrorDetail } from '../common/errors/gateway.error.js';
import { egressProblem } from '../upstream/egress/egress-refused.error.js';
import type { EgressPolicy } from '../upstream/egress/egress-policy.js';

/**
 * What is wrong with an address that the gateway may never call, told now and not at the first event. What its name leads to is
 * checked at every delivery.
 */
export function urlProblems(url: string, egress: EgressPolicy): readonly ErrorDetail[] {
  if (!URL.canParse(url)) return [fieldError('url', 'must be a URL, as https://example.com/webhooks')];
  const refusal = egressProblem(egress, url);
  return refusal === undefined ? [] : [fieldError('url', refusal)];
}
