import type { OpenAPIObject } from '@nestjs/swagger';
import { parametersOf } from './operations.js';
import type { Schema } from './schemas.js';

const MAX_32_BITS = 2 ** 31 - 1;

/**
 * Makes an integer of every number that does not say `format: double`. The generator cannot tell: it reads types of
 * TypeScript, which has one for both.
 */
export function describeWholeNumbers(document: OpenAPIObject): void {
  for (const schema of schemasOf(document)) {
    if (schema.format === undefined) schema.type = asWhole(schema.type);
    // Many generators of clients give an integer 32 bits unless told otherwise.
    if (isInteger(schema) && (schema.maximum ?? Infinity) > MAX_32_BITS) schema.format = 'int64';
  }
}

/** One type, or one of several: `["number", "null"]`. */
function asWhole(type: Schema['type']): Schema['type'] {
  if (Array.isArray(type)) return type.map((one) => (one === 'number' ? 'integer' : one));
  return type === 'number' ? 'integer' : type;
}

function isInteger({ type }: Schema): boolean {
  return Array.isArray(type) ? type.includes('integer') : type === 'integer';
}

/** Of the properties of all components, and of all parameters. */
function schemasOf(document: OpenAPIObject): readonly Schema[] {
  const properties = Object.values(document.components?.schemas ?? {}).flatMap((schema) =>
    '$ref' in schema ? [] : Object.values(schema.properties ?? {}),
  );
  const parameters = parametersOf(document).flatMap((parameter) =>
    '$ref' in parameter ? [] : (parameter.schema ?? []),
  );
  return [...properties, ...parameters].flatMap((schema) => ('$ref' in schema ? [] : schema));
}
