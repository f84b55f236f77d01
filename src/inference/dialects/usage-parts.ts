import { isObject, type JsonObject } from '../../common/json/read.js';
import { believableCount } from '../../gateway/call-cost.js';

export function detailsOf(usage: JsonObject, name: string): JsonObject {
  const details = usage[name];
  return isObject(details) ? details : {};
}

/** A total without its parts, since a unit must not count what another unit counts. */
export function remainder(total: number | undefined, parts: readonly (number | undefined)[]): number | undefined {
  // A negative total means that the usage is unknown, not 0.
  if (total === undefined || total < 0) return undefined;
  return Math.max(
    0,
    // An implausible part is not subtracted, since it is not counted as another unit either.
    parts.reduce<number>((left, part) => left - (believableCount(part) ?? 0), total),
  );
}
