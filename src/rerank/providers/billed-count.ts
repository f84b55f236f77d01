import { type JsonObject, numberOrUndefined } from '../../common/json/read.js';
import { believableCount } from '../../gateway/believable-count.js';
import { nestedValue } from './nested-value.js';

/** What an answer says that it bills, at a nested field; undefined where it says nothing that can be true. */
export function billedCount(body: JsonObject, ...names: readonly string[]): number | undefined {
  return believableCount(numberOrUndefined(nestedValue(body, ...names)));
}
