import { ValidationError } from 'class-validator';
import { isInheritedName } from './inherited-names.js';

/** Fields that the validator would never see, for their names; no class of ours knows such a field, so each is an error. */
export function leftOutFields(fields: object): readonly ValidationError[] {
  return Object.keys(fields)
    .filter(isInheritedName)
    .map((property) =>
      Object.assign(new ValidationError(), { property, constraints: { whitelistValidation: property } }),
    );
}
