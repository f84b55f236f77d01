import { validateSync, type ValidationError } from 'class-validator';
import { throwIfInvalid, type ErrorDetail } from '../../common/errors/gateway.error.js';
import type { JsonObject } from '../../common/json/read.js';
import type { AuthConfig } from '../managers/secret-manager.types.js';
import type { AuthRules, AuthScheme, SecretAddress } from './auth-scheme.types.js';
import { problem } from './given-auth-config.js';
import { allFieldsOf, fieldsOf, variantClass } from './scheme-fields.js';

/**
 * Checks a whole `auth_config`, given by the interface's names and without nulls.
 * @param nameOf what the caller calls a field
 * @throws GatewayError `validation_failed` that names every broken field as the caller does: `auth_config.aws_region`
 */
export function checkAuthConfig(
  scheme: AuthScheme,
  config: JsonObject,
  address: SecretAddress,
  rules: AuthRules,
  nameOf: (field: string) => string,
): AuthConfig {
  const variant = variantClass(scheme, config[scheme.discriminator]);
  if (variant === undefined) {
    const choice = Object.keys(scheme.variants).join(', ');
    throwIfInvalid([problem(nameOf(scheme.discriminator), `must be one of the following values: ${choice}`)]);
    return {};
  }
  throwIfInvalid([...strangers(scheme, config, nameOf), ...brokenFields(variant, config, nameOf)]);
  const checked = textsOf(config);
  throwIfInvalid(scheme.problems(checked, address, rules).map((found) => inNamesOf(scheme, nameOf, found)));
  return checked;
}

/** Fields that the variant does not have. */
function strangers(scheme: AuthScheme, config: JsonObject, nameOf: (field: string) => string): readonly ErrorDetail[] {
  const variant = config[scheme.discriminator];
  const known = fieldsOf(scheme, variant);
  const elsewhere = allFieldsOf(scheme);
  const chosen = `${nameOf(scheme.discriminator)} = ${String(variant)}`;
  return Object.keys(config)
    .filter((field) => known?.has(field) !== true)
    .map((field) =>
      problem(nameOf(field), elsewhere.has(field) ? `does not go with ${chosen}` : 'is not a known field'),
    );
}

function brokenFields(
  variant: new () => object,
  config: JsonObject,
  nameOf: (field: string) => string,
): readonly ErrorDetail[] {
  const errors = validateSync(Object.assign(new variant(), config), { forbidUnknownValues: false });
  return errors.flatMap((error) => messagesOf(error).map((message) => problem(nameOf(error.property), message)));
}

/** What reads on from the name of the field. */
function messagesOf({ property, constraints = {} }: ValidationError): readonly string[] {
  return Object.values(constraints).map((message) =>
    message.startsWith(property) ? message.slice(property.length).trimStart() : message,
  );
}

/** Schemes speak of fields by the interface's names. */
function inNamesOf(
  scheme: AuthScheme,
  nameOf: (field: string) => string,
  { param, message }: ErrorDetail,
): ErrorDetail {
  const known = allFieldsOf(scheme);
  const renamed = (text: string): string =>
    text.replace(/[a-zA-Z0-9_]+/g, (word) => (known.has(word) ? nameOf(word) : word));
  return { param: param === null ? null : renamed(param), message: renamed(message) };
}

/** Every field that passed its rules is text. */
function textsOf(config: JsonObject): AuthConfig {
  return Object.fromEntries(
    Object.entries(config).flatMap(([field, value]) => (typeof value === 'string' ? [[field, value] as const] : [])),
  );
}
