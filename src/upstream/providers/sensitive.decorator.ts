const SENSITIVE_FIELDS = new WeakMap<object, string[]>();

/** Marks a field of a provider's options as a secret: sealed at rest, masked in answers, never logged. */
export function Sensitive(): PropertyDecorator {
  return (target, property) => {
    const fields = SENSITIVE_FIELDS.get(target) ?? [];
    fields.push(String(property));
    SENSITIVE_FIELDS.set(target, fields);
  };
}

/** The names of the sensitive fields of a class, including inherited ones. */
export function sensitiveFields(optionsClass: new () => object): readonly string[] {
  const fields: string[] = [];
  let prototype: unknown = optionsClass.prototype;
  while (typeof prototype === 'object' && prototype !== null) {
    fields.push(...(SENSITIVE_FIELDS.get(prototype) ?? []));
    prototype = Object.getPrototypeOf(prototype);
  }
  return fields;
}
