import { Injectable } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { type ErrorDetail, GatewayError } from '../errors/gateway.error.js';
import { markInheritedNames } from './inherited-names.js';
import type { JsonObject } from '../json/read.js';

const NONE: ReadonlySet<string> = new Set();

type Rule = (body: object, broken: ReadonlySet<string>) => readonly ErrorDetail[];

/**
 * Rules that no field of a body has by itself: those between fields, and those that need the gateway's settings. The rooms whose
 * bodies they are bring them along. What depends on the caller or on stored rows is judged later, in the services.
 */
@Injectable()
export class BodyRules {
  readonly #rules = new Map<object, Rule[]>();

  /**
   * @param fields what the rule reads: it says nothing of a body in which one of them is broken by itself
   * @param check returns what is wrong, or throws it as GatewayError `validation_failed`
   */
  add<Body extends object, Field extends keyof Body & string>(
    type: new () => Body,
    fields: readonly Field[],
    check: (body: Pick<Body, Field>) => readonly ErrorDetail[] | void,
  ): void {
    const rule: Rule = (body, broken) =>
      fields.some((field) => broken.has(field))
        ? []
        : problemsIn(() => check(plainToInstance(type, markInheritedNames(body))));
    this.#rules.set(type, [...(this.#rules.get(type) ?? []), rule]);
  }

  /** @param broken names of the fields that are refused by themselves */
  problemsOf(type: object | undefined, body: object, broken: ReadonlySet<string> = NONE): readonly ErrorDetail[] {
    const rules = type && this.#rules.get(type);
    if (rules === undefined) return [];
    const sound = Object.fromEntries(Object.entries(body).filter(([field]) => !broken.has(field)));
    return rules.flatMap((rule) => rule(sound, broken));
  }
}

function problemsIn(check: () => readonly ErrorDetail[] | void): readonly ErrorDetail[] {
  try {
    return check() ?? [];
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'validation_failed') return error.details ?? [];
    throw error;
  }
}

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
