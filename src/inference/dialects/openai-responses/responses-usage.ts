import { isObject, type JsonObject, numberOrUndefined } from '../../../common/json/read.js';
import type { Counts } from '../../../usage/units.js';
import { detailsOf, remainder } from '../usage-parts.js';

/**
 * The usage of a response; undefined when it reports none.
 * Source: https://platform.openai.com/docs/api-reference/responses/object, read 2026-11-27.
 */
export function readResponsesUsage({ usage, tool_usage: ofTools }: JsonObject): Counts | undefined {
  if (!isObject(usage)) return undefined;
  const input = numberOrUndefined(usage['input_tokens']);
  const output = numberOrUndefined(usage['output_tokens']);
  if (input === undefined && output === undefined) return undefined;
  const given = detailsOf(usage, 'input_tokens_details');
  const written = numberOrUndefined(given['cache_write_tokens']);
  const long = numberOrUndefined(detailsOf(given, 'cache_write_tokens_details')['ttl_12h_tokens']);
  const parts = {
    cache_read: numberOrUndefined(given['cached_tokens']),
    cache_write_5m: long === undefined ? written : remainder(written, [long]),
    cache_write_1h: long,
  };
  const searches = isObject(ofTools) ? numberOrUndefined(detailsOf(ofTools, 'web_search')['num_requests']) : undefined;
  return { ...parts, input: remainder(input, Object.values(parts)), output, web_search: searches };
}
