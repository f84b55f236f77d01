import { getMetadataStorage } from 'class-validator';
import type { AuthScheme, Spelling } from './auth-scheme.types.js';

/** The class of a variant; undefined when the scheme has none of that name. */
export function variantClass(scheme: AuthScheme, variant: unknown): (new () => object) | undefined {
  return typeof variant === 'string' && Object.hasOwn(scheme.variants, variant) ? scheme.variants[variant] : undefined;
}

/** The field of a variant whose value the gateway makes. */
export function generatedField({ generated }: AuthScheme, variant: unknown): string | undefined {
  return generated !== undefined && generated.variant === variant ? generated.field : undefined;
}

/** Names of the fields that a variant has, the generated one included; undefined for an unknown variant. */
export function fieldsOf(scheme: AuthScheme, variant: unknown): ReadonlySet<string> | undefined {
  const target = variantClass(scheme, variant);
  if (target === undefined) return undefined;
  const rules = getMetadataStorage().getTargetValidationMetadatas(target, '', false, false);
  const own = generatedField(scheme, variant);
  return new Set([...rules.map((rule) => rule.propertyName), ...(own === undefined ? [] : [own])]);
}

/** Names of the fields that any variant has. */
export function allFieldsOf(scheme: AuthScheme): ReadonlySet<string> {
  return new Set(Object.keys(scheme.variants).flatMap((variant) => [...(fieldsOf(scheme, variant) ?? [])]));
}

/** The interface's name of a field of `auth_config`, given in either spelling. */
export function toInterfaceName({ names }: AuthScheme, field: string): string {
  const { interface: own, vendor } = names;
  return field.startsWith(vendor.prefix) ? own.prefix + field.slice(vendor.prefix.length) : field;
}

/** @param field the interface's name */
export function toSpelling({ names }: AuthScheme, spelling: Spelling, field: string): string {
  const { interface: own, [spelling]: wanted } = names;
  return field.startsWith(own.prefix) ? wanted.prefix + field.slice(own.prefix.length) : field;
}
