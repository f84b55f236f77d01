import { toUnixSeconds } from '../common/time/unix-time.js';
import type { WebhookEndpoint } from './webhook-endpoint.entity.js';

export class CreatedWebhookEndpointResponse {
  readonly id: string;
  readonly object: 'webhook-endpoint';
  /** Signs the deliveries. It is shown here once and cannot be read again. */
  readonly secret: string;
}

export class RotatedWebhookEndpointResponse extends CreatedWebhookEndpointResponse {
  /** Unix seconds until which the previous secret signs too; null: it no longer does. */
  readonly previous_valid_until: number | null;
}

export class WebhookEndpointResponse {
  readonly id: string;
  readonly object: 'webhook-endpoint';
  readonly organisation_id: string;
  /** null: gets the events of every workspace of the organisation. */
  readonly workspace_id: string | null;
  /** Where events are sent. */
  readonly url: string;
  /** The types of events that the endpoint receives; `*`: all. */
  readonly events: string[];
  readonly description: string | null;
  /** Whether the endpoint receives events. */
  readonly enabled: boolean;
  /** Unix seconds; null: it is enabled. */
  readonly disabled_at: number | null;
  /** `administrator`, or `gone`: the receiver answered 410. */
  readonly disabled_reason: string | null;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly updated_at: number;
}

export class WebhookEndpointListResponse {
  readonly object: 'list';
  readonly data: WebhookEndpointResponse[];
  readonly total: number;
}

export function toWebhookEndpointResponse(row: WebhookEndpoint): WebhookEndpointResponse {
  return {
    id: row.id,
    object: 'webhook-endpoint',
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId,
    url: row.url,
    events: row.events,
    description: row.description,
    enabled: row.disabledAt === null,
    disabled_at: toUnixSeconds(row.disabledAt),
    disabled_reason: row.disabledReason,
    created_at: toUnixSeconds(row.createdAt),
    updated_at: toUnixSeconds(row.updatedAt),
  };
}
