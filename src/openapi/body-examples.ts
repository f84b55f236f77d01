import { type Document, jsonBodiesOf, resolveSchema, type Schema } from './document.js';

/**
 * Gives every request body an example, built from the examples of its fields: all required fields, and the optional fields that
 * have an example. Without it the page invents one from all fields, which the gateway refuses.
 */
export function writeBodyExamples(document: Document): void {
  for (const { schema } of jsonBodiesOf(document)) {
    schema.example ??= exampleOf(document, schema) ?? ((schema.required ?? []).length === 0 ? {} : undefined);
  }
}

/** The example of a schema, or one built from its fields; undefined when there is none. */
export function exampleOf(document: Pick<Document, 'components'>, schema: Schema): unknown {
  const { example, properties = {}, required = [] } = schema;
  if (example !== undefined) return example;
  const given = Object.entries(properties).flatMap(([name, field]) => {
    const part = resolveSchema(document, field);
    // An optional object is included when it has an example itself, not when one of its fields has.
    const value: unknown = required.includes(name) && part ? exampleOf(document, part) : part?.example;
    return value === undefined ? [] : [[name, value] as const];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
