import { ModelRoute } from './model-routes/model-route.entity.js';
import { ApiKeySecret } from './api-keys/api-key-secret.entity.js';
import { ApiKey } from './api-keys/api-key.entity.js';
import { Session } from './api-keys/sessions/session.entity.js';
import { AuditLogEntry } from './audit/audit-log-entry.entity.js';
import { ProviderJob } from './gateway/deferred/provider-job.entity.js';
import { ProviderObject } from './gateway/relay/provider-object.entity.js';
import { IdempotencyKey } from './idempotency/idempotency-key.entity.js';
import { McpCall } from './mcp/calls/mcp-call.entity.js';
import { RequestLog } from './request-logs/request-log.entity.js';
import { ResponsePin } from './gateway/routing/response-pin.entity.js';
import { McpServerTool } from './mcp/servers/mcp-server-tool.entity.js';
import { McpServer } from './mcp/servers/mcp-server.entity.js';
import { ServerSecret } from './sealing/server-secret.entity.js';
import { UsagePolicy } from './policies/usage-policy.entity.js';
import { SecretMapping } from './secret-references/secret-mapping.entity.js';
import { SecretReference, SecretReferenceWorkspace } from './secret-references/secret-reference.entity.js';
import { PriceImport } from './usage/prices/price-import.entity.js';
import { PriceRow } from './usage/prices/price.entity.js';
import { UsageAdjustment } from './usage/usage-adjustment.entity.js';
import { UsageBucket } from './usage/usage-bucket.entity.js';
import { UsageEvent } from './usage/usage-event.entity.js';
import { UsageReservation } from './usage/usage-reservation.entity.js';
import { VirtualKey } from './virtual-keys/virtual-key.entity.js';
import { WebhookDelivery } from './webhooks/webhook-delivery.entity.js';
import { WebhookEndpoint } from './webhooks/webhook-endpoint.entity.js';
import { WebhookOutboxEvent } from './webhooks/webhook-outbox-event.entity.js';
import { Organisation } from './workspaces/organisation.entity.js';
import { Workspace } from './workspaces/workspace.entity.js';

/** Every table of the gateway, for the application and for the migration command line alike. */
export const ENTITIES = [
  Organisation,
  Workspace,
  ServerSecret,
  ApiKey,
  ApiKeySecret,
  Session,
  SecretReference,
  SecretReferenceWorkspace,
  SecretMapping,
  VirtualKey,
  ModelRoute,
  UsagePolicy,
  UsageBucket,
  UsageReservation,
  UsageEvent,
  UsageAdjustment,
  PriceImport,
  PriceRow,
  ProviderObject,
  ProviderJob,
  WebhookEndpoint,
  WebhookOutboxEvent,
  WebhookDelivery,
  McpServer,
  McpServerTool,
  McpCall,
  RequestLog,
  ResponsePin,
  AuditLogEntry,
  IdempotencyKey,
] as const;
