import { throwIfInvalid, fieldError, type ErrorDetail } from '../../common/errors/gateway.error.js';
import type { JsonObject } from '../../common/json/read.js';
import type { ManagerType } from '../managers/secret-manager.types.js';
import { type Spelling, toInterfaceName, toSpelling } from './spelling.js';

const MASKED = 'masked_';

interface GivenMask {
  /** As it was sent. */
  readonly name: string;
  readonly value: unknown;
}

/** `auth_config` as a caller sent it. */
export interface GivenAuthConfig {
  /** By the interface's names. */
  readonly fields: ReadonlyMap<string, unknown>;
  /** What the caller was shown of secrets and sends back as `masked_<field>`, by the interface's name of the field. */
  readonly masks: ReadonlyMap<string, GivenMask>;
  /** The name that the caller gives a field, or would give it. */
  readonly nameOf: (field: string) => string;
}

/**
 * Reads either spelling, field by field.
 * @param spelling of fields that the caller did not send, when those that it sent do not tell
 * @throws GatewayError `validation_failed` for a field that is there in both spellings
 */
export function readAuthConfig(manager: ManagerType, config: JsonObject, spelling: Spelling): GivenAuthConfig {
  const fields = new Map<string, unknown>();
  const masks = new Map<string, GivenMask>();
  const names = new Map<string, string>();
  const twice: ErrorDetail[] = [];
  for (const [name, value] of Object.entries(config)) {
    const isMask = name.startsWith(MASKED);
    const field = toInterfaceName(manager, isMask ? name.slice(MASKED.length) : name);
    const key = isMask ? MASKED + field : field;
    const other = names.get(key);
    if (other !== undefined) twice.push(problem(name, `is the same field as ${other}; send one of them`));
    names.set(key, name);
    if (isMask) masks.set(field, { name, value });
    else fields.set(field, value);
  }
  throwIfInvalid(twice);
  const own = spellingOf(manager, [...fields.keys()], names) ?? spelling;
  return { fields, masks, nameOf: (field) => names.get(field) ?? toSpelling(manager, own, field) };
}

/** The name of a mask, in the caller's spelling. */
export function maskName(name: string): string {
  return MASKED + name;
}

/** One broken rule of a field. `expected` reads on from the field's name. */
export function problem(name: string, expected: string): ErrorDetail {
  return fieldError(`auth_config.${name}`, expected);
}

/** The spelling of the first field that has one. */
function spellingOf(
  manager: ManagerType,
  fields: readonly string[],
  names: ReadonlyMap<string, string>,
): Spelling | undefined {
  for (const field of fields) {
    if (names.get(field) !== field) return 'vendor';
    if (toSpelling(manager, 'vendor', field) !== field) return 'interface';
  }
  return undefined;
}
