import { isObject } from '../json/read.js';

const DEEP_OBJECTS = 'tollgate:deep-objects';
/** `metadata[team]` */
const MEMBER = /^(\w+)\[([^[\]]*)\]$/;

/** A query parameter that is a map, written as `metadata[team]=search`. */
export function DeepObject(): PropertyDecorator {
  return (prototype, property) => {
    Reflect.defineMetadata(DEEP_OBJECTS, [...deepObjectsOf(prototype), property], prototype);
  };
}

/** The query with one map for the members of each such parameter. Other names stay, and may be refused. */
export function gatherDeepObjects(query: unknown, metatype: unknown): unknown {
  const names = typeof metatype === 'function' && isObject(metatype.prototype) ? deepObjectsOf(metatype.prototype) : [];
  if (names.length === 0 || !isObject(query)) return query;
  const plain: [string, unknown][] = [];
  const maps = new Map<string, [string, unknown][]>();
  for (const [name, value] of Object.entries(query)) {
    const [, parameter = '', member = ''] = MEMBER.exec(name) ?? [];
    if (!names.includes(parameter) || Object.hasOwn(query, parameter)) plain.push([name, value]);
    else maps.set(parameter, [...(maps.get(parameter) ?? []), [member, value]]);
  }
  const gathered = [...maps].map(([name, members]) => [name, Object.fromEntries(members)] as const);
  return Object.fromEntries([...plain, ...gathered]);
}

function deepObjectsOf(prototype: object): readonly unknown[] {
  const names: unknown = Reflect.getMetadata(DEEP_OBJECTS, prototype);
  return Array.isArray(names) ? names : [];
}
