/** Of every resource. */
const COMMON = ['id', 'object', 'created_at', 'updated_at'] as const;

const fixedOf = new WeakMap<object, ReadonlySet<string>>();

/**
 * On the body of an update: fields that the resource shows and that no update sets. They are refused like unknown ones, in other
 * words: whoever sends them has made no typing error.
 */
export function FixedFields(...names: readonly string[]): ClassDecorator {
  return (target) => void fixedOf.set(target, new Set([...COMMON, ...names]));
}

/** @param body an instance of its class */
export function isFixedField(body: object | undefined, name: string): boolean {
  return body !== undefined && fixedOf.get(body.constructor)?.has(name) === true;
}
