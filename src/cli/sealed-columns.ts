import { IdempotencyKey } from '../idempotency/idempotency-key.entity.js';
import { McpServer } from '../mcp/servers/mcp-server.entity.js';
import { type SealedColumn, sealedColumn } from '../sealing/sealed-column.js';
import { ServerSecret } from '../sealing/server-secret.entity.js';
import { placeOf as placeOfServerSecret } from '../sealing/server-secrets.js';
import { SecretReference } from '../secret-references/secret-reference.entity.js';
import { VirtualKey } from '../virtual-keys/virtual-key.entity.js';
import { WebhookEndpoint } from '../webhooks/webhook-endpoint.entity.js';

/** Every column that holds sealed values. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  sealedColumn(ServerSecret, 'sealedValue', (row) => placeOfServerSecret(row.name)),
  sealedColumn(SecretReference, 'sealedAuthConfig'),
  sealedColumn(VirtualKey, 'sealedKey'),
  sealedColumn(VirtualKey, 'sealedOptions'),
  sealedColumn(WebhookEndpoint, 'sealedSecret'),
  sealedColumn(WebhookEndpoint, 'sealedPreviousSecret'),
  sealedColumn(McpServer, 'sealedSecrets'),
  sealedColumn(IdempotencyKey, 'sealedAnswer'),
];
