/** The same object without the fields that are undefined: what a partial update really names. */
export function withoutUndefined<Fields extends object>(fields: Fields): Partial<Fields> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}
