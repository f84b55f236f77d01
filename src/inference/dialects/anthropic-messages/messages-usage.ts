import { isObject, type JsonObject, numberOrUndefined } from '../../../common/json/read.js';
import type { Counts, QuantityUnit } from '../../../usage/units.js';
import { detailsOf, remainder } from '../usage-parts.js';

const FIELDS = {
  input_tokens: 'input',
  output_tokens: 'output',
  cache_read_input_tokens: 'cache_read',
} as const;

const SUMMED = [...Object.values(FIELDS), 'cache_write_5m', 'cache_write_1h'] as const;

type Figures = Partial<Record<QuantityUnit, number | undefined>>;

/**
 * Adds the counts of a usage object to those from before; undefined when it has none. In a stream, counts are
 * cumulative, and each may be null or absent.
 * Source: https://docs.anthropic.com/en/api/messages and …/build-with-claude/streaming, read 2026-11-26.
 */
export function readMessagesUsage(usage: unknown, before: Counts = {}): Counts | undefined {
  if (!isObject(usage)) return undefined;
  const own = figuresIn(usage, before);
  const { iterations } = usage;
  const all = Array.isArray(iterations) ? iterations.filter(isObject).map((each) => figuresIn(each, {}) ?? {}) : [];
  if (all.length === 0) return own;
  return atLeast(own ?? before, all.reduce(sumOf, {}));
}

function figuresIn(usage: JsonObject, before: Counts): Figures | undefined {
  const counts: Figures = { ...before };
  let isThere = false;
  for (const [name, unit] of Object.entries(FIELDS)) {
    const figure = numberOrUndefined(usage[name]);
    if (figure === undefined) continue;
    counts[unit] = figure;
    isThere = true;
  }
  const written = numberOrUndefined(usage['cache_creation_input_tokens']);
  const parts = detailsOf(usage, 'cache_creation');
  const long = numberOrUndefined(parts['ephemeral_1h_input_tokens']) ?? before.cache_write_1h;
  // The end of a stream reports only the total, which contains the 1 h part that its start reports.
  const short = numberOrUndefined(parts['ephemeral_5m_input_tokens']) ?? remainder(written, [long]);
  if (long !== undefined) counts.cache_write_1h = long;
  if (short !== undefined) counts.cache_write_5m = short;
  const searches = numberOrUndefined(detailsOf(usage, 'server_tool_use')['web_search_requests']);
  if (searches !== undefined) counts.web_search = searches;
  return isThere || written !== undefined ? counts : undefined;
}

/**
 * Raises the totals to the sum of the iterations: only these count the provider's own work, such as a summary.
 * Source: https://docs.claude.com/en/docs/build-with-claude/compaction, read 2026-11-27.
 */
function atLeast(totals: Figures, iterations: Figures): Figures {
  const all: Figures = { ...totals };
  for (const unit of Object.values(FIELDS)) {
    const figure = iterations[unit];
    if (figure !== undefined) all[unit] = Math.max(all[unit] ?? 0, figure);
  }
  // Either may report the cache writes as one sum.
  const written = writesIn(iterations);
  if (written === 0 || written < writesIn(totals)) return all;
  return { ...all, cache_write_5m: iterations.cache_write_5m, cache_write_1h: iterations.cache_write_1h };
}

function writesIn({ cache_write_5m: short = 0, cache_write_1h: long = 0 }: Figures): number {
  return short + long;
}

function sumOf(sum: Figures, figures: Figures): Figures {
  const next: Figures = { ...sum };
  for (const unit of SUMMED) {
    const figure = figures[unit];
    if (figure !== undefined) next[unit] = (next[unit] ?? 0) + figure;
  }
  return next;
}
