import { McpServer } from '../mcp/servers/mcp-server.entity.js';
import { placeOf as placeOfMcpServer } from '../mcp/servers/mcp-server.encryption.js';
import { type SealedColumn, sealedColumn } from '../sealing/sealed-column.js';
import { ServerSecret } from '../sealing/server-secret.entity.js';
import { placeOf as placeOfServerSecret } from '../sealing/server-secrets.js';
import { SecretReference } from '../secret-references/secret-reference.entity.js';
import { placeOf as placeOfSecretReference } from '../secret-references/secret-reference.encryption.js';
import { VirtualKey } from '../virtual-keys/virtual-key.entity.js';
import { placeOf as placeOfVirtualKey } from '../virtual-keys/virtual-key.encryption.js';
import { WebhookEndpoint } from '../webhooks/webhook-endpoint.entity.js';
import { placeOf as placeOfWebhookEndpoint } from '../webhooks/webhook.encryption.js';

/** Every column that holds sealed values, and how the room that owns it says where a value lives. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  sealedColumn(ServerSecret, 'sealedValue', (row) => placeOfServerSecret(row.name)),
  sealedColumn(SecretReference, 'sealedAuthConfig', placeOfSecretReference),
  sealedColumn(VirtualKey, 'sealedKey', (row) => placeOfVirtualKey(row, 'sealed_key')),
  sealedColumn(VirtualKey, 'sealedOptions', (row) => placeOfVirtualKey(row, 'sealed_options')),
  sealedColumn(WebhookEndpoint, 'sealedSecret', (row) => placeOfWebhookEndpoint(row, 'sealed_secret')),
  sealedColumn(WebhookEndpoint, 'sealedPreviousSecret', (row) => placeOfWebhookEndpoint(row, 'sealed_previous_secret')),
  sealedColumn(McpServer, 'sealedSecrets', placeOfMcpServer),
];
