import { Injectable } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { type ErrorDetail, GatewayError } from '../errors/gateway.error.js';
import { copyForClass } from './bounded-fields.js';
import type { JsonObject } from '../json/read.js';

const NONE: ReadonlySet<string> = new Set();

type Rule = (body: object, broken: ReadonlySet<string>) => readonly ErrorDetail[];

/**
 * Rules of request bodies beyond single fields: rules between fields, and rules that need the gateway's settings. Each
 * room registers its own. Services check later what depends on the caller or on stored rows.
 */
@Injectable()
export class BodyRules {
  readonly #rules = new Map<object, Rule[]>();

  /**
   * @param fields the fields that the rule reads; it is skipped when one of them is already invalid
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
        : problemsIn(() => check(plainToInstance(type, copyForClass(type, body))));
    this.#rules.set(type, [...(this.#rules.get(type) ?? []), rule]);
  }

  /** @param broken names of the fields that are already invalid */
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
 * Gives a DTO on the hot path a predicate for valid bodies, which takes a thirtieth of class-validator's time. Bodies
 * that the predicate does not accept go to class-validator, which writes the messages. Only for DTOs whose valid bodies
 * need no conversion.
 */
export function AcceptedBy(accepts: Accepts): ClassDecorator {
  return (target) => void predicates.set(target, accepts);
}

export function acceptsOf(target: object | undefined): Accepts | undefined {
  return target && predicates.get(target);
}
