import { invalidField } from '../../common/errors/gateway.error.js';
import { walkFields } from '../../common/json/fields.js';
import type { JsonObject } from '../../common/json/read.js';
import { withFirstMember, withMember } from '../../common/json/scan.js';
import type { ModelFacts } from '../../usage/models/model-facts.js';
import type { InferenceCall, InferenceFacts } from './dialect.types.js';

/** The most tokens of output over a number of answers; undefined without a bound. */
export function outputBound(
  cap: number | undefined,
  answers: number,
  knownModel: ModelFacts | undefined,
): number | undefined {
  const most = cap ?? knownModel?.maxOutput;
  return most === undefined ? undefined : most * answers;
}

/**
 * The output cap of a request, in tokens; undefined without one.
 * @param names the members that may hold the cap
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
  // llama.cpp, LM Studio and others treat a number below 1 as no limit.
  if (caps.some((cap) => cap < 1)) return undefined;
  // With several caps, servers differ in which one applies, so the highest counts.
  return caps.length === 0 ? undefined : Math.max(...caps);
}

/**
 * Returns the call with another output cap.
 * @param members the members that may hold the cap: all that are present get it, or the first one when none is
 */
export function withCap<Facts extends InferenceFacts>(
  call: InferenceCall<Facts>,
  members: readonly string[],
  cap: number,
): InferenceCall<Facts> {
  const there = new Set<string>();
  walkFields(call.bytes, ({ name, depth }) => {
    if (depth === 1 && members.includes(name)) there.add(name);
  });
  let { bytes } = call;
  for (const name of there) bytes = withMember(bytes, name, cap);
  const [first] = members;
  if (there.size === 0 && first !== undefined) bytes = withFirstMember(bytes, first, cap);
  return { ...call, bytes, facts: { ...call.facts, outputCap: cap } };
}

/** @throws GatewayError `validation_failed` */
export function readCount(members: JsonObject, name: string, max: number): number | undefined {
  const value = members[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw invalidField(name, `must be between 1 and ${max}`);
}
