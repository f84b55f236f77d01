import { isObject, type JsonObject } from '../../src/common/json/read.js';
import type { SchemaOrRef } from '../../src/openapi/document.js';
import type { ApiDocument } from './openapi.js';

export interface NullBody {
  /** The path of the null: `rate_limits.0.limit`. */
  readonly param: string;
  readonly body: JsonObject;
}

/** The example with one null: a body for each field that the schema names, including nested fields. */
export function nullBodies(document: ApiDocument, schema: SchemaOrRef, example: JsonObject): readonly NullBody[] {
  return Object.entries(document.resolve(schema).properties ?? {}).flatMap(([name, field]) => [
    { param: name, body: { ...example, [name]: null } },
    ...inPart(document, field, example[name]).map(({ param, value }) => ({
      param: `${name}.${param}`,
      body: { ...example, [name]: value },
    })),
  ]);
}

/** The bodies with a null inside a field that is an object, or a list of objects. */
function inPart(
  document: ApiDocument,
  field: SchemaOrRef,
  given: unknown,
): readonly { param: string; value: unknown }[] {
  const { items, allOf = [], anyOf = [] } = document.resolve(field);
  const [part = field] = items === undefined ? [...allOf, ...anyOf] : [items];
  const [first] = [given].flat();
  const example = first ?? document.exampleOf(part);
  return nullBodies(document, part, isObject(example) ? example : {}).map(({ param, body }) =>
    items === undefined ? { param, value: body } : { param: `0.${param}`, value: [body] },
  );
}
