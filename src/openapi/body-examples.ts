import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations.js';

type SchemaOrRef = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];
type Schema = Exclude<SchemaOrRef, { readonly $ref: string }>;
type Document = Pick<OpenAPIObject, 'paths' | 'components'>;

const COMPONENTS = '#/components/schemas/';

/**
 * Gives every request body an example, put together from those of its fields: of all that are required, and of optional ones
 * that have one. The page would otherwise make one up of all fields, and the gateway refuse it: for an organisation that is
 * nobody's, say.
 */
export function writeBodyExamples(document: Document): void {
  for (const { requestBody } of operationsOf(document)) {
    if (requestBody === undefined || '$ref' in requestBody) continue;
    const reference = requestBody.content['application/json']?.schema;
    const schema = reference === undefined ? undefined : resolve(document, reference);
    if (schema !== undefined) schema.example ??= exampleOf(document, schema);
  }
}

/** undefined without any. */
function exampleOf(document: Document, { example, properties = {}, required = [] }: Schema): unknown {
  if (example !== undefined) return example;
  const given = Object.entries(properties).flatMap(([name, field]) => {
    const schema = resolve(document, field);
    // An optional object belongs to the example when it says so itself, not when one of its fields does.
    const value: unknown = required.includes(name) && schema ? exampleOf(document, schema) : schema?.example;
    return value === undefined ? [] : [[name, value] as const];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

function resolve(document: Document, schema: SchemaOrRef): Schema | undefined {
  if (!('$ref' in schema)) return schema;
  const found = document.components?.schemas?.[schema.$ref.slice(COMPONENTS.length)];
  return found === undefined ? undefined : resolve(document, found);
}
