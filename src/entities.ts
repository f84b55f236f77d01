import { ApiKeySecret } from './api-keys/api-key-secret.entity.js';
import { ApiKey } from './api-keys/api-key.entity.js';
import { AuditLogEntry } from './audit/audit-log-entry.entity.js';
import { ProviderObject } from './gateway/relay/provider-object.entity.js';
import { McpCall } from './mcp/calls/mcp-call.entity.js';
import { McpServerTool } from './mcp/servers/mcp-server-tool.entity.js';
import { McpServer } from './mcp/servers/mcp-server.entity.js';
import { ServerSecret } from './sealing/server-secret.entity.js';
import { VirtualKey } from './virtual-keys/virtual-key.entity.js';
import { Organisation } from './workspaces/organisation.entity.js';
import { Workspace } from './workspaces/workspace.entity.js';

/** Every table of the gateway, for the application and for the migration command line alike. */
export const ENTITIES = [
  Organisation,
  Workspace,
  ServerSecret,
  ApiKey,
  ApiKeySecret,
  VirtualKey,
  ProviderObject,
  McpServer,
  McpServerTool,
  McpCall,
  AuditLogEntry,
] as const;
