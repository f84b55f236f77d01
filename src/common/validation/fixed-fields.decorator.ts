import { fieldError, throwIfInvalid } from '../errors/gateway.error.js';
import type { JsonObject } from '../json/read.js';
import { isSameValue } from '../same-value.js';

/** Fields of every resource that no update sets. */
const FIXED = ['id', 'object', 'created_at'] as const;
/** A field of every resource that the gateway writes at any time. */
const REPORTED = ['updated_at'] as const;

interface ReadOnlyNames {
  readonly fixed: ReadonlySet<string>;
  readonly reported: ReadonlySet<string>;
}

const namesOf = new Map<object, ReadOnlyNames>();
const givenTo = new WeakMap<object, JsonObject>();

/**
 * Names the fields of a resource that an update cannot set, so that a client can send back what it has read.
 * @param fixed must have their stored values: see `assertFixedFields`
 * @param reported are ignored, since the gateway may have written another value in the meantime
 */
export function ReadOnlyFields(fixed: readonly string[], reported: readonly string[] = []): ClassDecorator {
  const names = { fixed: new Set([...FIXED, ...fixed]), reported: new Set([...REPORTED, ...reported]) };
  return (target) => void namesOf.set(target, names);
}

/** The read-only fields of a body, by the name of its class: for the OpenAPI document. */
export function readOnlyFieldsByClass(): ReadonlyMap<string, readonly string[]> {
  const entries = [...namesOf].map(([target, { fixed, reported }]) => [target, [...fixed, ...reported]] as const);
  return new Map(entries.map(([target, names]) => [typeof target === 'function' ? target.name : '', names]));
}

/** The body without its read-only fields, which have no rules of their own. */
export function withoutReadOnlyFields(type: object | undefined, body: object): object {
  const names = type && namesOf.get(type);
  if (names === undefined) return body;
  const entries = Object.entries(body).filter(([name]) => !names.fixed.has(name) && !names.reported.has(name));
  return Object.fromEntries(entries);
}

/** Keeps the body that a DTO was made of. */
export function noteGiven(dto: unknown, body: JsonObject): void {
  if (typeof dto === 'object' && dto !== null && namesOf.has(dto.constructor)) givenTo.set(dto, body);
}

/** The body that a DTO was made of, with its read-only fields. */
export function givenBody(dto: object): JsonObject {
  return givenTo.get(dto) ?? {};
}

/** The fixed fields of a body, as the client sent them. */
export function fixedFieldsOf(dto: object): JsonObject {
  const { fixed } = namesOf.get(dto.constructor) ?? { fixed: new Set<string>() };
  return Object.fromEntries(Object.entries(givenBody(dto)).filter(([name]) => fixed.has(name)));
}

/**
 * @param given see `fixedFieldsOf`
 * @param stored the resource as a response shows it
 * @throws GatewayError `validation_failed` that names each field with another value than the stored one
 */
export function assertFixedFields(given: JsonObject, stored: object): void {
  throwIfInvalid(
    Object.entries(given)
      .filter(([name, value]) => !isSameValue(value ?? null, Reflect.get(stored, name) ?? null))
      .map(([name]) => fieldError(name, 'cannot be changed')),
  );
}
