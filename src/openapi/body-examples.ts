import type { OpenAPIObject } from '@nestjs/swagger';
import { jsonBodiesOf, resolveSchema, type Schema } from './schemas.js';

type Document = Pick<OpenAPIObject, 'paths' | 'components'>;

/**
 * Gives every request body an example, put together from those of its fields: of all that are required, and of optional ones
 * that have one. The page would otherwise make one up of all fields, and the gateway refuse it: for an organisation that is
 * nobody's, say. Where nothing has to be said, that is the example.
 */
export function writeBodyExamples(document: Document): void {
  for (const { schema } of jsonBodiesOf(document)) {
    schema.example ??= exampleOf(document, schema) ?? ((schema.required ?? []).length === 0 ? {} : undefined);
  }
}

/** Of a schema, from those of its fields where it has none itself; undefined without any. */
export function exampleOf(document: Pick<Document, 'components'>, schema: Schema): unknown {
  const { example, properties = {}, required = [] } = schema;
  if (example !== undefined) return example;
  const given = Object.entries(properties).flatMap(([name, field]) => {
    const part = resolveSchema(document, field);
    // An optional object belongs to the example when it says so itself, not when one of its fields does.
    const value: unknown = required.includes(name) && part ? exampleOf(document, part) : part?.example;
    return value === undefined ? [] : [[name, value] as const];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
