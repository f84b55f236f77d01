import type { WebhookEndpoint } from './webhook-endpoint.entity.js';
import type { EventContent } from './webhook-message.js';
import type { SealedSecrets } from './webhook.encryption.js';

/** A delivery that this gateway is to send now, with all that it needs for that. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly claimId: string;
  /** That have failed before. */
  readonly attempts: number;
  readonly event: EventContent & { readonly id: string };
  readonly endpoint: ClaimedEndpoint;
}

export type ClaimedEndpoint = Readonly<
  Pick<WebhookEndpoint, 'id' | 'organisationId' | 'workspaceId' | 'url' | 'format' | 'disabledAt'> & SealedSecrets
>;

/** As the database returns it. */
export interface ClaimedRow extends EventContent, Omit<ClaimedEndpoint, 'id'> {
  readonly id: string;
  readonly claimId: string;
  readonly attempts: number;
  readonly eventId: string;
  readonly endpointId: string;
}

export function toClaimedDelivery(row: ClaimedRow): ClaimedDelivery {
  const { id, claimId, attempts, eventId, type, occurredAt, data, endpointId, ...endpoint } = row;
  return {
    id,
    claimId,
    attempts,
    event: { id: eventId, type, occurredAt, data },
    endpoint: { id: endpointId, ...endpoint },
  };
}
