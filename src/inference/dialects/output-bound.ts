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

/**
 * Tokens of output that a request allows at most; undefined: it has no cap.
 * @param names of the members that may hold it
 * @throws GatewayError `validation_failed`
 */
export function readCap(members: JsonObject, names: readonly string[]): number | undefined {
  const caps: number[] = [];
  for (const name of names) {
    const value = members[name] ?? undefined;
    if (value === undefined) continue;
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw invalidField(name, 'must be a whole number');
    caps.push(value);
  }
  // llama.cpp, LM Studio and others take such a number for no limit.
  if (caps.some((cap) => cap < 1)) return undefined;
  // Servers differ in which one counts where several are there.
  return caps.length === 0 ? undefined : Math.max(...caps);
}

/** @throws GatewayError `validation_failed` */
export function readCount(members: JsonObject, name: string, max: number): number | undefined {
  const value = members[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw invalidField(name, `must be between 1 and ${max}`);
}
