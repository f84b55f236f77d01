/** Columns of the ledger, in SQL, by their names in the API. */
const REPORT_COLUMNS = {
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

const METADATA = 'metadata.';
const MAX_METADATA_NAME = 128;

/** What usage is grouped by: `model`, `metadata.user`, … */
export type ReportKey = ColumnKey | `metadata.${string}`;

export const REPORT_KEYS_TEXT = `${Object.keys(REPORT_COLUMNS).join(', ')} or metadata.<name>`;

export function isReportKey(key: string): key is ReportKey {
  if (Object.hasOwn(REPORT_COLUMNS, key)) return true;
  return key.startsWith(METADATA) && key.length > METADATA.length && key.length <= METADATA.length + MAX_METADATA_NAME;
}

/** The name behind `metadata.`; undefined for every other key. */
export function metadataNameOf(key: ReportKey): string | undefined {
  return isColumn(key) ? undefined : key.slice(METADATA.length);
}

export function columnOf(key: ReportKey): string | undefined {
  return isColumn(key) ? REPORT_COLUMNS[key] : undefined;
}

function isColumn(key: ReportKey): key is ColumnKey {
  return Object.hasOwn(REPORT_COLUMNS, key);
}
