// Readers of a generated OpenAPI document.
import type { OpenAPIObject } from '@nestjs/swagger';

export type Document = Pick<OpenAPIObject, 'paths' | 'components'>;
export type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
export type Parameter = Exclude<NonNullable<Operation['parameters']>[number], { readonly $ref: string }>;
export type SchemaOrRef = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];
export type Schema = Exclude<SchemaOrRef, { readonly $ref: string }>;
type RequestBody = Exclude<NonNullable<Operation['requestBody']>, { readonly $ref: string }>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const COMPONENTS = '#/components/schemas/';

export function operationEntriesOf({
  paths,
}: Pick<Document, 'paths'>): readonly { readonly path: string; readonly operation: Operation }[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : { path, operation };
    }),
  );
}

export function operationsOf(document: Pick<Document, 'paths'>): readonly Operation[] {
  return operationEntriesOf(document).map(({ operation }) => operation);
}

/** Parameters that have a schema of their own, each with that schema. */
export function parameterSchemasOf(
  document: Pick<Document, 'paths'>,
): readonly { readonly parameter: Parameter; readonly schema: Schema }[] {
  return parametersOf(document).flatMap((parameter) => {
    const { schema } = parameter;
    return schema === undefined || '$ref' in schema ? [] : { parameter, schema };
  });
}

/** The schema that a reference leads to; undefined when it leads nowhere. */
export function resolveSchema(document: Pick<Document, 'components'>, schema: SchemaOrRef): Schema | undefined {
  if (!('$ref' in schema)) return schema;
  const found = document.components?.schemas?.[schema.$ref.slice(COMPONENTS.length)];
  return found === undefined ? undefined : resolveSchema(document, found);
}

/** JSON bodies of requests, each with its schema. */
export function jsonBodiesOf(
  document: Document,
): readonly { readonly requestBody: RequestBody; readonly schema: Schema }[] {
  return operationsOf(document).flatMap((operation) => {
    const { requestBody } = operation;
    const schema = jsonBodySchemaOf(document, operation);
    return requestBody === undefined || '$ref' in requestBody || schema === undefined ? [] : [{ requestBody, schema }];
  });
}

/** The schema of the JSON body that an operation takes; undefined for one without. */
export function jsonBodySchemaOf(
  document: Pick<Document, 'components'>,
  { requestBody }: Operation,
): Schema | undefined {
  if (requestBody === undefined || '$ref' in requestBody) return undefined;
  const reference = requestBody.content['application/json']?.schema;
  return reference === undefined ? undefined : resolveSchema(document, reference);
}

/** Parameters of all operations: in paths, queries and headers. */
function parametersOf(document: Pick<Document, 'paths'>): readonly Parameter[] {
  const parameters = operationsOf(document).flatMap((operation) => operation.parameters ?? []);
  return parameters.flatMap((parameter) => ('$ref' in parameter ? [] : parameter));
}
