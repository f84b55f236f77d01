/** Whether an object somewhere in parsed JSON has more than `limit` fields. Recurses: for JSON of bounded depth. */
export function hasObjectLargerThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const isArray = Array.isArray(value);
  const items: readonly unknown[] = isArray ? value : Object.values(value);
  if (!isArray && items.length > limit) return true;
  // No call for what is no object: most items of long arrays are text.
  for (const item of items) if (typeof item === 'object' && hasObjectLargerThan(item, limit)) return true;
  return false;
}
