import { isObject, numberOrUndefined } from '../../../common/json/read.js';
import type { Counts } from '../../../usage/units.js';

/** In a stream the figures are cumulative, and each may be null or absent. */
const FIELDS = {
  input_tokens: 'input',
  output_tokens: 'output',
  cache_read_input_tokens: 'cache_read',
  cache_creation_input_tokens: 'cache_write_5m',
} as const;

/**
 * The counts of a usage object, on top of those that came before; undefined where it has none.
 * Source: https://docs.anthropic.com/en/api/messages and …/build-with-claude/streaming, read 2026-11-26.
 */
export function readMessagesUsage(usage: unknown, before: Counts = {}): Counts | undefined {
  if (!isObject(usage)) return undefined;
  const counts: Partial<Record<keyof Counts, number | undefined>> = { ...before };
  let isThere = false;
  for (const [name, unit] of Object.entries(FIELDS)) {
    const figure = numberOrUndefined(usage[name]);
    if (figure === undefined) continue;
    counts[unit] = figure;
    isThere = true;
  }
  const written = usage['cache_creation'];
  if (isObject(written)) {
    counts.cache_write_5m = numberOrUndefined(written['ephemeral_5m_input_tokens']) ?? counts.cache_write_5m;
    counts.cache_write_1h = numberOrUndefined(written['ephemeral_1h_input_tokens']) ?? counts.cache_write_1h;
  }
  const tools = usage['server_tool_use'];
  if (isObject(tools)) counts.web_search = numberOrUndefined(tools['web_search_requests']) ?? counts.web_search;
  return isThere ? counts : undefined;
}
