import { invalidField } from '../../common/errors/gateway.error.js';
import type { JsonObject } from '../../common/json/read.js';
import type { ModelFacts } from '../../usage/models/model-facts.js';

/** Tokens that a number of answers have at most; undefined: there is no bound. */
export function outputBound(
  cap: number | undefined,
  answers: number,
  knownModel: ModelFacts | undefined,
): number | undefined {
  const most = cap ?? knownModel?.maxOutput;
  return most === undefined ? undefined : most * answers;
}

/** @throws GatewayError `validation_failed` */
export function readCount(members: JsonObject, name: string, max = Number.MAX_SAFE_INTEGER): number | undefined {
  const value = members[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw invalidField(
    name,
    max === Number.MAX_SAFE_INTEGER ? 'must be a whole number above 0' : `must be between 1 and ${max}`,
  );
}
