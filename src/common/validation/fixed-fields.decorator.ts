/** Fixed fields of every resource. */
const COMMON = ['id', 'object', 'created_at', 'updated_at'] as const;

const fixedOf = new WeakMap<object, ReadonlySet<string>>();

/**
 * Names read-only fields on the body of an update. They are refused with a message of their own, since the client has
 * not misspelled them.
 */
export function FixedFields(...names: readonly string[]): ClassDecorator {
  return (target) => void fixedOf.set(target, new Set([...COMMON, ...names]));
}

/** @param body an instance of a DTO class */
export function isFixedField(body: object | undefined, name: string): boolean {
  return body !== undefined && fixedOf.get(body.constructor)?.has(name) === true;
}
