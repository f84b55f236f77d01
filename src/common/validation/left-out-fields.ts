import { ValidationError } from 'class-validator';

/**
 * Fields of names that every object inherits (`__proto__`, `constructor`, `toString` …). class-transformer leaves them out
 * without a word, so that the validator never sees them; no class of ours knows such a field, so each is an error.
 */
export function leftOutFields(body: object): readonly ValidationError[] {
  const names = Object.keys(body).filter((name) => name in Object.prototype || name === 'prototype');
  return names.map((property) =>
    Object.assign(new ValidationError(), { property, constraints: { whitelistValidation: property } }),
  );
}
