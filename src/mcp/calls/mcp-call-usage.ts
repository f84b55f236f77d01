import { isStorable } from '../../common/validation/is-storable.decorator.js';
import { uuidv7 } from '../../common/uuid.js';
import { contextOf } from '../../telemetry/request-context.js';
import type { UnlimitedUsage } from '../../usage/usage-store.types.js';
import { rpcMethodOf, toolOf } from '../endpoints/mcp-message.js';
import type { Passage } from '../endpoints/mcp-passage.js';

const ENDPOINT = 'mcp';
const MAX_TOOL_CHARACTERS = 255;
const NOTHING = { costNano: 0n, tokens: 0n, searchUnits: 0n } as const;

/** A tool call for the ledger: it costs nothing, and shows in reports. undefined for what is no tool call. */
export function usageOf({ request, server, caller, message }: Passage, at: Date): UnlimitedUsage | undefined {
  const tool = toolOf(message);
  if (rpcMethodOf(message) !== 'tools/call' || tool === undefined || !isStorable(tool)) return undefined;
  const { principal } = caller;
  const { trace, metadata } = contextOf(request);
  return {
    id: uuidv7(at),
    at,
    dimensions: {
      organisationId: principal.organisationId,
      workspaceId: principal.workspaceId ?? server.workspaceId,
      apiKeyId: principal.id.slice(0, MAX_TOOL_CHARACTERS),
      virtualKey: null,
      provider: null,
      model: null,
      endpoint: ENDPOINT,
      mcpServer: server.slug,
      mcpTool: tool.slice(0, MAX_TOOL_CHARACTERS),
      metadata,
      traceId: trace.traceId,
      attempt: 1,
    },
    figures: NOTHING,
    source: 'computed',
    priceId: null,
    status: 'settled',
  };
}
