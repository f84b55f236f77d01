import { throwIfInvalid, fieldError, type ErrorDetail } from '../errors/gateway.error.js';
import type { JsonObject } from '../json/read.js';

/**
 * Reads a field: returns undefined when it breaks the rule. `expected` follows the field's name: `must be a string`.
 */
export interface FieldRule<Value> {
  readonly read: (value: unknown) => Value | undefined;
  readonly expected: string;
}

/** A rule for text that matches a pattern. */
export function textLike(pattern: RegExp, expected: string): FieldRule<string> {
  return { read: (value) => (typeof value === 'string' && pattern.test(value) ? value : undefined), expected };
}

/** Reads the body of a mapped request and collects every broken rule. Null counts as absent. */
export class BodyFields {
  readonly #problems: ErrorDetail[] = [];

  constructor(private readonly body: JsonObject) {}

  optional<Value>(name: string, rule: FieldRule<Value>): Value | undefined {
    const given = this.body[name] ?? undefined;
    if (given === undefined) return undefined;
    const value = rule.read(given);
    if (value === undefined) this.refuse(name, rule.expected);
    return value;
  }

  /** Returns undefined only when `done` will throw. */
  required<Value>(name: string, rule: FieldRule<Value>): Value | undefined {
    if ((this.body[name] ?? undefined) === undefined) this.refuse(name, `is required and ${rule.expected}`);
    return this.optional(name, rule);
  }

  refuse(name: string, expected: string): void {
    this.#problems.push(fieldError(name, expected));
  }

  /** Refuses fields that would be dropped silently. */
  refuseOthers(known: readonly string[], expected: string): void {
    for (const [name, value] of Object.entries(this.body)) {
      if (!known.includes(name) && value !== null) this.refuse(name, expected);
    }
  }

  /** @throws GatewayError `validation_failed` with every broken rule */
  done(): void {
    throwIfInvalid(this.#problems);
  }
}
