import type { OpenAPIObject } from '@nestjs/swagger';
import { parametersOf } from './operations.js';

const RULES_OF_OTHERS = ['minItems', 'uniqueItems', 'additionalProperties'] as const;

/** A parameter may be text that is read as a list or an object. The generator gives it the rules of what it is read as. */
export function keepRulesOfText(document: Pick<OpenAPIObject, 'paths'>): void {
  for (const parameter of parametersOf(document)) {
    if ('$ref' in parameter || parameter.schema === undefined || '$ref' in parameter.schema) continue;
    if (parameter.schema.type !== 'string') continue;
    for (const rule of RULES_OF_OTHERS) delete parameter.schema[rule];
  }
}
