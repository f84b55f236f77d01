import { toUnixSeconds } from '../common/time/unix-time.js';
import type { WebhookEndpoint, WebhookFormat } from './webhook-endpoint.entity.js';
import type { WebhookDelivery } from './webhook-delivery.entity.js';

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
  /** The form of the bodies: Standard Webhooks, or a message for Slack. */
  readonly format: WebhookFormat;
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
    format: row.format,
    enabled: row.disabledAt === null,
    disabled_at: toUnixSeconds(row.disabledAt),
    disabled_reason: row.disabledReason,
    created_at: toUnixSeconds(row.createdAt),
    updated_at: toUnixSeconds(row.updatedAt),
  };
}

export class WebhookDeliveryResponse {
  readonly id: string;
  readonly object: 'webhook-delivery';
  /** The id of the endpoint. */
  readonly webhook_endpoint_id: string;
  /** The header `webhook-id`: the same for every attempt, and for every endpoint that gets the event. */
  readonly event_id: string;
  /** The type of the event. */
  readonly event_type: string;
  /** `pending`, `succeeded` or `failed`. */
  readonly status: string;
  /** How often the delivery was tried. */
  readonly attempts: number;
  /** Unix seconds; null: there is none, or it is in progress. */
  readonly next_attempt_at: number | null;
  /** Unix seconds; null: not tried yet. */
  readonly last_attempt_at: number | null;
  /** What the receiver answered last; null: nothing. */
  readonly last_status_code: number | null;
  /** Why there is no answer, or not all of it, as `timeout` or `refused_by_egress`. */
  readonly last_error: string | null;
  /** How long the last attempt took. */
  readonly last_latency_ms: number | null;
  /** Unix seconds; null: it is pending. */
  readonly completed_at: number | null;
  /** Unix seconds. */
  readonly created_at: number;
}

export class WebhookDeliveryListResponse {
  readonly object: 'list';
  readonly data: WebhookDeliveryResponse[];
  readonly total: number;
}

export function toWebhookDeliveryResponse(row: WebhookDelivery): WebhookDeliveryResponse {
  return {
    id: row.id,
    object: 'webhook-delivery',
    webhook_endpoint_id: row.endpointId,
    event_id: row.outboxId,
    event_type: row.eventType,
    status: row.status,
    attempts: row.attempts,
    // Of one that is in flight, the column has the end of its lease.
    next_attempt_at: row.claimId === null ? toUnixSeconds(row.nextAttemptAt) : null,
    last_attempt_at: toUnixSeconds(row.lastAttemptAt),
    last_status_code: row.lastStatusCode,
    last_error: row.lastError,
    last_latency_ms: row.lastLatencyMs,
    completed_at: toUnixSeconds(row.completedAt),
    created_at: toUnixSeconds(row.createdAt),
  };
}
