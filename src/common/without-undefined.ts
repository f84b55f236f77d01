/** A copy of the object without undefined fields, for example for a partial update. */
export function withoutUndefined<Fields extends object>(fields: Fields): Partial<Fields> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}
