import { isStorableText, toStorableText } from '../common/storable-text.js';
import type { UsageDimensions } from './usage-store.types.js';

const LONG = 255;
const SHORT = 64;
const TRACE_ID = 128;

/**
 * The dimensions as columns of the ledger. Text that would not fit is cut: one call with an odd name must not be able to
 * fail the batch that it shares with others.
 */
export function ledgerColumns(dimensions: UsageDimensions): Record<string, unknown> {
  return {
    organisation_id: dimensions.organisationId,
    workspace_id: dimensions.workspaceId,
    // The column takes no null.
    api_key_id: cut(dimensions.apiKeyId ?? '', LONG),
    virtual_key: cutOrNull(dimensions.virtualKey, LONG),
    provider: cutOrNull(dimensions.provider, SHORT),
    model: cutOrNull(dimensions.model, LONG),
    endpoint: cut(dimensions.endpoint, SHORT),
    mcp_server: cutOrNull(dimensions.mcpServer, LONG),
    mcp_tool: cutOrNull(dimensions.mcpTool, LONG),
    metadata: storable(dimensions.metadata),
    trace_id: cut(dimensions.traceId, TRACE_ID),
    attempt: dimensions.attempt,
  };
}

function storable(metadata: UsageDimensions['metadata']): UsageDimensions['metadata'] {
  const entries = Object.entries(metadata);
  if (entries.every(([key, value]) => isStorableText(key) && isStorableText(value))) return metadata;
  return Object.fromEntries(entries.map(([key, value]) => [cut(key, LONG), cut(value, LONG)]));
}

/** Text for a column of at most so many characters. */
export function cut(text: string, length: number): string {
  const replaced = toStorableText(text);
  // By code points, as PostgreSQL counts, and so that no pair is cut in two.
  return replaced.length <= length
    ? replaced
    : Array.from(replaced.slice(0, 2 * length))
        .slice(0, length)
        .join('');
}

function cutOrNull(text: string | null, length: number): string | null {
  return text === null ? null : cut(text, length);
}
