import { isMetadataKey, type MetadataKey } from './metadata-key.js';

/** Columns of the ledger, in SQL, by their names in the API. */
export const REPORT_COLUMNS = {
  workspace_id: 'workspace_id',
  // Empty for callers without a key.
  api_key: `NULLIF(api_key_id, '')`,
  virtual_key: 'virtual_key',
  provider: 'provider',
  model: 'model',
  endpoint: 'endpoint',
  mcp_server: 'mcp_server',
  mcp_tool: 'mcp_tool',
} as const;

type ColumnKey = keyof typeof REPORT_COLUMNS;

/** A key that reports group by: `model`, `metadata.user`, … */
export type ReportKey = ColumnKey | MetadataKey;

export const REPORT_KEYS_TEXT = `${Object.keys(REPORT_COLUMNS).join(', ')} or metadata.<name>`;

export function isReportKey(key: string): key is ReportKey {
  return Object.hasOwn(REPORT_COLUMNS, key) || isMetadataKey(key);
}
