import { throwIfInvalid, fieldError, type ErrorDetail, invalidField } from '../../common/errors/gateway.error.js';
import { foldHeaderName } from '../../identity/headers/header-names.js';
import type { MappedField } from '../../secret-references/secret-mapping.entity.js';
import type { UpdateMcpServerDto } from './dto/mcp-server.dto.js';

/** The secret with which the gateway asks the identity provider about opaque tokens. */
export const CLIENT_SECRET = 'jwt_validation.introspection.client_secret';
const HEADER = 'headers.';

/** Fields of a server that take their values from secret references, each with the name under which a refusal blames it. */
export type MappedTargets = ReadonlyMap<string, string>;

export const NO_TARGETS: MappedTargets = new Map();

type Given = Pick<UpdateMcpServerDto, 'headers' | 'jwt_validation'>;

/**
 * The fields that a request maps to secret references. Whether a server may have such a header, see check-mcp-server.ts.
 * @throws GatewayError `validation_failed`, which names `secret_mappings.<i>.target_field`, when a server has no such field,
 * or when the request gives it a value as well
 */
export function readTargets(mappings: readonly { readonly target_field: string }[], given: Given): MappedTargets {
  const fields = mappings.map((mapping) => mapping.target_field);
  const details = fields.flatMap((field, index): ErrorDetail[] => {
    const problem = targetProblem(field, fields.slice(0, index), given);
    return problem === undefined ? [] : [fieldError(paramOf(index), problem)];
  });
  throwIfInvalid(details);
  return namedTargets(mappings);
}

/** The same of mappings that may be wrong. */
export function namedTargets(mappings: readonly { readonly target_field: string }[]): MappedTargets {
  return new Map(mappings.map(({ target_field: field }, index) => [field, paramOf(index)]));
}

/**
 * The fields that are mapped already, for a request that says nothing of mappings.
 * @throws GatewayError `validation_failed` when it gives one of them a value
 */
export function keepTargets(mappings: readonly Pick<MappedField, 'targetField'>[], given: Given): MappedTargets {
  const targets = targetsOf(mappings);
  const field = [...targets.keys()].find((name) => isGiven(name, given));
  if (field !== undefined) throw invalidField(field, 'comes from a secret reference: change secret_mappings instead');
  return targets;
}

export function targetsOf(mappings: readonly Pick<MappedField, 'targetField'>[]): MappedTargets {
  return new Map(mappings.map(({ targetField }) => [targetField, targetField]));
}

/** Names of the headers among the mapped fields. */
export function mappedHeaderNames(targets: MappedTargets): readonly string[] {
  return [...targets.keys()].flatMap((field) => headerOf(field) ?? []);
}

/** Undefined when the field is no header. */
export function headerOf(field: string): string | undefined {
  return field.startsWith(HEADER) ? field.slice(HEADER.length) : undefined;
}

function paramOf(index: number): string {
  return `secret_mappings.${index}.target_field`;
}

function targetProblem(field: string, earlier: readonly string[], given: Given): string | undefined {
  if (field !== CLIENT_SECRET && headerOf(field) === undefined) {
    return `must be ${HEADER}<name of a header> or ${CLIENT_SECRET}`;
  }
  if (earlier.some((other) => isSame(other, field))) return 'must not be the target_field of another mapping';
  return isGiven(field, given) ? 'must not name a field that is given as well' : undefined;
}

/** A server takes `X-Key` and `x_key` for one header. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [headerOf(one), headerOf(other)];
  return a === undefined || b === undefined ? one === other : foldHeaderName(a) === foldHeaderName(b);
}

/** `null` takes a header out, so it is none. */
function isGiven(field: string, { headers = {}, jwt_validation: validation }: Given): boolean {
  if (field === CLIENT_SECRET) return validation?.introspection?.client_secret !== undefined;
  return Object.entries(headers).some(([name, value]) => value !== null && isSame(HEADER + name, field));
}
