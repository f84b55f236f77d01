import { isObject, type JsonObject } from '../../common/json/read.js';
import { believableCount } from '../../gateway/call-cost.js';

export function detailsOf(usage: JsonObject, name: string): JsonObject {
  const details = usage[name];
  return isObject(details) ? details : {};
}

/** What is left of a total that holds all of its parts: a unit counts what no other unit counts. */
export function remainder(total: number | undefined, parts: readonly (number | undefined)[]): number | undefined {
  // A negative figure is not one: what the call used is unknown, and not 0.
  if (total === undefined || total < 0) return undefined;
  return Math.max(
    0,
    // A part that cannot be true is not counted as another unit either.
    parts.reduce<number>((left, part) => left - (believableCount(part) ?? 0), total),
  );
}
