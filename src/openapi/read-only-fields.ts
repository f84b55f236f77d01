import { readOnlyFieldsByClass } from '../common/validation/fixed-fields.decorator.js';
import { type Document, operationsOf, resolveSchema, type SchemaOrRef } from './document.js';

const COMPONENTS = '#/components/schemas/';
export const READ_ONLY_DESCRIPTION = 'The value that was read. It cannot be changed.';

/**
 * Adds the fields that an update takes back without changing them. Their schemas are those of the operation's response,
 * so that a resource that was read is a valid body.
 */
export function writeReadOnlyFields(document: Document): void {
  const names = readOnlyFieldsByClass();
  for (const { requestBody, responses } of operationsOf(document)) {
    const body = requestBody && 'content' in requestBody ? requestBody.content['application/json']?.schema : undefined;
    const answer = responses['200'];
    const shown = answer && 'content' in answer ? answer.content?.['application/json']?.schema : undefined;
    if (body === undefined || shown === undefined || !('$ref' in body)) continue;
    const fields = names.get(body.$ref.slice(COMPONENTS.length)) ?? [];
    const schema = resolveSchema(document, body);
    const properties = resolveSchema(document, shown)?.properties ?? {};
    for (const name of fields) {
      const property = properties[name];
      if (schema !== undefined && property !== undefined) (schema.properties ??= {})[name] ??= asRead(property);
    }
  }
}

function asRead(property: SchemaOrRef): SchemaOrRef {
  return '$ref' in property
    ? { allOf: [property], description: READ_ONLY_DESCRIPTION }
    : { ...property, description: READ_ONLY_DESCRIPTION };
}
