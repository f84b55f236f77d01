import { invalidField } from '../common/errors/gateway.error.js';
import { egressProblem } from '../upstream/egress/egress-refused.error.js';
import type { EgressPolicy } from '../upstream/egress/egress-policy.js';

/**
 * Refuses an address that the gateway may never call now, and not at the first event. What its name leads to is checked
 * at every delivery.
 * @throws GatewayError `validation_failed`
 */
export function checkWebhookUrl(url: string, egress: EgressPolicy): void {
  if (!URL.canParse(url)) throw invalidField('url', 'must be a URL, as https://example.com/webhooks');
  const refusal = egressProblem(egress, url);
  if (refusal !== undefined) throw invalidField('url', refusal);
}
