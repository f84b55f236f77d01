import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { throwIfInvalid, type ErrorDetail } from '../common/errors/gateway.error.js';
import type { JsonObject } from '../common/json/read.js';
import { markInheritedNames } from '../common/validation/inherited-names.js';
import { toDetails } from '../common/validation/validation-details.js';
import { egressProblem } from '../upstream/egress/egress-refused.error.js';
import type { EgressPolicy } from '../upstream/egress/egress-policy.js';
import { sensitiveFields } from '../upstream/providers/sensitive.decorator.js';
import type { BaseProviderOptions, Provider } from '../upstream/providers/provider.types.js';
import { CONFIG, type MappedFields, NO_FIELDS, optionNames } from './mapped-fields.js';

/** The options of a virtual key, parted into what may be read and what must be sealed. */
export interface SplitOptions {
  readonly open: JsonObject;
  readonly secret: JsonObject;
}

/**
 * Checks `key` and `config` of a virtual key against its provider. Nothing is said about fields that are mapped to secret
 * references: their values are known, and checked, at use.
 * @throws GatewayError `validation_failed` that names every broken field, as `config.aws_region`
 */
export function checkProviderOptions(
  provider: Provider,
  config: JsonObject,
  key: string | undefined,
  egress: EgressPolicy,
  mapped: MappedFields = NO_FIELDS,
): void {
  const given = plainToInstance(provider.optionsClass, markInheritedNames(config));
  const errors = validateSync(given, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });
  const broken = new Set(errors.map(({ property }) => property));
  const sound = Object.fromEntries(Object.entries(config).filter(([name]) => !broken.has(name)));
  const options = plainToInstance(provider.optionsClass, markInheritedNames(sound));
  const others = [...(provider.checkOptions?.(options, key) ?? []), ...egressProblems(options, egress)];
  const isTold = ({ param }: ErrorDetail): boolean =>
    param !== null && (mapped.has(param) || (param.startsWith(CONFIG) && broken.has(param.slice(CONFIG.length))));
  throwIfInvalid([...toDetails(errors, 'config'), ...others.filter((detail) => !isTold(detail))]);
}

/** Lays the fields of an update over the stored ones; `null` takes a field out, if the provider has it. */
export function mergeOptions(provider: Provider, stored: JsonObject, update: JsonObject): JsonObject {
  const known = optionNames(provider);
  const merged = Object.entries({ ...stored, ...update });
  return Object.fromEntries(merged.filter(([name, value]) => value !== null || !known.has(name)));
}

export function splitOptions(provider: Provider, options: JsonObject): SplitOptions {
  const sensitive = new Set(sensitiveFields(provider.optionsClass));
  const entries = Object.entries(options);
  return {
    open: Object.fromEntries(entries.filter(([name]) => !sensitive.has(name))),
    secret: Object.fromEntries(entries.filter(([name]) => sensitive.has(name))),
  };
}

export function toProviderOptions(provider: Provider, options: JsonObject): BaseProviderOptions {
  return plainToInstance(provider.optionsClass, options);
}

function egressProblems(options: BaseProviderOptions, egress: EgressPolicy): readonly ErrorDetail[] {
  const refusal = options.base_url === undefined ? undefined : egressProblem(egress, options.base_url);
  return refusal === undefined ? [] : [{ param: 'config.base_url', message: `config.base_url ${refusal}` }];
}
