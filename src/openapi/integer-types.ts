import type { OpenAPIObject } from '@nestjs/swagger';
import { parameterSchemasOf, type Schema } from './document.js';

const MAX_32_BITS = 2 ** 31 - 1;

/**
 * Turns `number` into `integer` wherever the schema does not say `format: double`. The generator of the document cannot
 * distinguish them, since TypeScript has one type for both.
 */
export function writeIntegerTypes(document: OpenAPIObject): void {
  for (const schema of schemasOf(document)) {
    if (schema.format === undefined) schema.type = asInteger(schema.type);
    // Many client generators use 32 bits for an integer without a format.
    if (isInteger(schema) && (schema.maximum ?? Infinity) > MAX_32_BITS) schema.format = 'int64';
  }
}

/** One type, or one of several: `["number", "null"]`. */
function asInteger(type: Schema['type']): Schema['type'] {
  if (Array.isArray(type)) return type.map((one) => (one === 'number' ? 'integer' : one));
  return type === 'number' ? 'integer' : type;
}

function isInteger({ type }: Schema): boolean {
  return Array.isArray(type) ? type.includes('integer') : type === 'integer';
}

/** Schemas of all properties of components, and of all parameters. */
function schemasOf(document: OpenAPIObject): readonly Schema[] {
  const properties = Object.values(document.components?.schemas ?? {}).flatMap((schema) =>
    '$ref' in schema ? [] : Object.values(schema.properties ?? {}),
  );
  const parameters = parameterSchemasOf(document).map(({ schema }) => schema);
  return [...properties, ...parameters].flatMap((schema) => ('$ref' in schema ? [] : schema));
}
