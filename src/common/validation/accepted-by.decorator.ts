import type { JsonObject } from '../json/read.js';

/** Returns true only for a body that breaks no rule of its DTO. */
export type Accepts = (body: JsonObject) => boolean;

const predicates = new WeakMap<object, Accepts>();

/**
 * Gives a DTO on the hot path a predicate for valid bodies: class-validator takes 30 times as long to find nothing wrong. A body
 * that the predicate does not accept goes to class-validator, which makes the messages. Only for a DTO whose valid bodies need no
 * conversion: they are passed on as they came.
 */
export function AcceptedBy(accepts: Accepts): ClassDecorator {
  return (target) => void predicates.set(target, accepts);
}

export function acceptsOf(target: object | undefined): Accepts | undefined {
  return target && predicates.get(target);
}
