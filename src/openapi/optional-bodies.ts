import { type Document, jsonBodiesOf, parameterSchemasOf } from './document.js';

/** Makes a body optional when none of its fields is required. The generator calls every body required. */
export function makeEmptyBodiesOptional(document: Document): void {
  for (const { requestBody, schema } of jsonBodiesOf(document)) {
    if ((schema.required ?? []).length === 0) requestBody.required = false;
  }
}

/** Makes a parameter with a default optional. The generator calls it required, since its field always has a value. */
export function makeDefaultedParametersOptional(document: Pick<Document, 'paths'>): void {
  for (const { parameter, schema } of parameterSchemasOf(document)) {
    if (schema.default !== undefined) parameter.required = false;
  }
}
