import { stringifyLongNumbers, textOfValue } from '../../common/json/numbers.js';
import { isObject, type JsonObject } from '../../common/json/read.js';
import type { LeftOut } from './request-parts.js';

/** Keywords whose value is one schema, a list of them, or schemas by name. */
const ONE = ['items', 'not', 'additionalProperties'] as const;
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const;
const NAMED = ['properties', '$defs', 'definitions'] as const;
/** Keywords that Anthropic and Bedrock refuse in the schema of an answer. */
const NOT_ENFORCED: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
]);
const FORMATS: ReadonlySet<unknown> = new Set(
  'date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '),
);

/**
 * Adapts the schema of an answer to Anthropic: limits that it does not enforce move to the description, and objects
 * that name their properties allow no others by default.
 * Source: https://platform.claude.com/docs/en/build-with-claude/structured-outputs, read 2026-11-29.
 * @param field the request's field that holds the schema
 */
export function enforceableSchema(schema: unknown, leftOut: LeftOut, field: string): unknown {
  if (!isObject(schema)) return schema;
  const told = Object.entries(schema).filter(([name, value]) => isOnlyTold(name, value));
  for (const [name] of told) leftOut.add(`${field}.${name}`);
  const names = new Set(told.map(([name]) => name));
  const kept = Object.fromEntries(Object.entries(schema).filter(([name]) => !names.has(name)));
  const { oneOf, ...others } = mapSchemas(kept, (each) => enforceableSchema(each, leftOut, field));
  return {
    ...others,
    ...(oneOf === undefined ? {} : { anyOf: oneOf }),
    ...(isObject(kept['properties']) && kept['additionalProperties'] === undefined
      ? { additionalProperties: false }
      : {}),
    ...(told.length === 0 ? {} : { description: withLimits(schema['description'], told) }),
  };
}

/** Whether OpenAI can enforce the schema: every object must require all of its properties and allow no others. */
export function isEnforcedByOpenai(schema: unknown): boolean {
  if (!isObject(schema)) return true;
  const { type, properties, required, additionalProperties } = schema;
  const isOfObject = type === 'object' || isObject(properties) || (Array.isArray(type) && type.includes('object'));
  const demanded = new Set<unknown>(Array.isArray(required) ? required : []);
  const names = Object.keys(isObject(properties) ? properties : {});
  if (isOfObject && (additionalProperties !== false || !names.every((name) => demanded.has(name)))) return false;
  let isEnforced = true;
  mapSchemas(schema, (each) => {
    isEnforced &&= isEnforcedByOpenai(each);
    return each;
  });
  return isEnforced;
}

function isOnlyTold(name: string, value: unknown): boolean {
  if (name === 'minItems') return value !== 0 && value !== 1;
  return name === 'format' ? !FORMATS.has(value) : NOT_ENFORCED.has(name);
}

function withLimits(description: unknown, limits: readonly (readonly [string, unknown])[]): string {
  const said = limits.map(([name, value]) => `${name}: ${stringifyLongNumbers(value)}`).join(', ');
  return typeof description === 'string' && description !== '' ? `${textOfValue(description)} (${said})` : said;
}

/** Applies `map` to the schemas directly within a schema. */
function mapSchemas(schema: JsonObject, map: (each: unknown) => unknown): JsonObject {
  const made: Record<string, unknown> = { ...schema };
  for (const name of ONE) if (isObject(schema[name])) made[name] = map(schema[name]);
  for (const name of LISTS) {
    const list = schema[name];
    if (Array.isArray(list)) made[name] = list.map(map);
  }
  for (const name of NAMED) {
    const named = schema[name];
    if (isObject(named)) made[name] = Object.fromEntries(Object.entries(named).map(([key, each]) => [key, map(each)]));
  }
  return made;
}
