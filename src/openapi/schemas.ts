import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations.js';

export type SchemaOrRef = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];
export type Schema = Exclude<SchemaOrRef, { readonly $ref: string }>;

type Document = Pick<OpenAPIObject, 'paths' | 'components'>;
type RequestBody = Exclude<
  NonNullable<ReturnType<typeof operationsOf>[number]['requestBody']>,
  { readonly $ref: string }
>;

const COMPONENTS = '#/components/schemas/';

/** The schema that a reference leads to; undefined when it leads nowhere. */
export function resolveSchema(document: Pick<Document, 'components'>, schema: SchemaOrRef): Schema | undefined {
  if (!('$ref' in schema)) return schema;
  const found = document.components?.schemas?.[schema.$ref.slice(COMPONENTS.length)];
  return found === undefined ? undefined : resolveSchema(document, found);
}

/** The JSON bodies of requests, each with its schema. */
export function jsonBodiesOf(
  document: Document,
): readonly { readonly requestBody: RequestBody; readonly schema: Schema }[] {
  return operationsOf(document).flatMap(({ requestBody }) => {
    if (requestBody === undefined || '$ref' in requestBody) return [];
    const reference = requestBody.content['application/json']?.schema;
    const schema = reference === undefined ? undefined : resolveSchema(document, reference);
    return schema === undefined ? [] : [{ requestBody, schema }];
  });
}
