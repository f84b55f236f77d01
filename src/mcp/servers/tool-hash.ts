import { createHash } from 'node:crypto';
import { isObject, type JsonObject } from '../../common/json/read.js';

/**
 * SHA-256 of the parts of a tool that a model acts on: its description and its schemas, in base64url. The order of keys does not
 * matter. The official client drops other fields, so they are left out.
 */
export function toolHash(tool: JsonObject): string {
  const { description, inputSchema, outputSchema } = tool;
  const text = JSON.stringify(sorted([description, inputSchema, outputSchema]));
  return createHash('sha256').update(text).digest('base64url');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  // As pairs, since a key such as `__proto__` must not get lost.
  const pairs = Object.keys(value)
    .sort()
    .map((key) => [key, sorted(value[key])]);
  return { pairs };
}
