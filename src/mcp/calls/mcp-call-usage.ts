import { uuidv7 } from '../../common/uuid.js';
import { contextOf } from '../../telemetry/request-context.js';
import { NO_RATE } from '../../usage/prices/price.types.js';
import { NO_QUANTITIES } from '../../usage/units.js';
import type { UnlimitedUsage, UsageFigures } from '../../usage/usage-store.types.js';
import type { McpCallContext } from '../endpoints/mcp-request.js';
import { toolOutcomesOf } from './outcome-classifier.js';

type ToolsEnding = Parameters<typeof toolOutcomesOf>[1];

const ENDPOINT = 'mcp';
const NOTHING: UsageFigures = { costNano: 0n, quantities: NO_QUANTITIES };

/** Ledger rows for the tool calls of a request, one per call of a batch. They cost nothing, and appear in reports. */
export function usagesOf(call: McpCallContext, ending: ToolsEnding, at: Date): readonly UnlimitedUsage[] {
  const tools = call.message?.tools ?? [];
  if (tools.length === 0) return [];
  const outcomes = toolOutcomesOf(call, ending);
  return tools.map((tool, index) => usageOf(call, tool, outcomes[index] ?? 'answered', at));
}

function usageOf(
  { request, server, caller }: McpCallContext,
  tool: string,
  outcome: UnlimitedUsage['outcome'],
  at: Date,
): UnlimitedUsage {
  const { principal } = caller;
  const { trace, metadata } = contextOf(request);
  return {
    id: uuidv7(at),
    at,
    dimensions: {
      organisationId: principal.organisationId,
      workspaceId: principal.workspaceId ?? server.workspaceId,
      apiKeyId: principal.kind === 'api_key' ? principal.id : null,
      virtualKey: null,
      provider: null,
      model: null,
      endpoint: ENDPOINT,
      mcpServer: server.slug,
      mcpTool: tool,
      metadata,
      traceId: trace.traceId,
      attempt: 1,
    },
    figures: NOTHING,
    source: 'computed',
    outcome,
    rate: NO_RATE,
    firstTokenMs: null,
  };
}
