import type { OpenAPIObject } from '@nestjs/swagger';
import { isObject, type JsonObject } from '../../src/common/json/read.js';
import { exampleOf } from '../../src/openapi/body-examples.js';
import type { Schema, SchemaOrRef } from '../../src/openapi/document.js';
import { closed, SchemaCheck } from './schema-check.js';

const METHODS = ['post', 'get', 'patch', 'put', 'delete'] as const;

type PathItem = OpenAPIObject['paths'][string];

export interface Operation {
  readonly method: (typeof METHODS)[number];
  readonly path: string;
  readonly details: NonNullable<PathItem['get']>;
}

/** The schema of a number, at any place of the document. */
export interface NumberSchema {
  /** The name of its property or parameter, e.g. `cost`. */
  readonly name: string;
  /** That name after the name of its component, e.g. `UsagePeriodResponse.cost`. */
  readonly place: string;
  readonly type: 'integer' | 'number';
  readonly schema: JsonObject;
}

/** An OpenAPI document, read as a tool would. */
export class ApiDocument {
  private readonly asItStands: SchemaCheck;
  private readonly closed: SchemaCheck;

  constructor(private readonly document: OpenAPIObject) {
    this.asItStands = new SchemaCheck(document.components);
    this.closed = new SchemaCheck(document.components, closed);
  }

  /** Operations without the addresses of MCP servers, which use MCP. */
  operations(): readonly Operation[] {
    return this.allOperations().filter(({ path }) => !path.includes('{server}'));
  }

  /** Operations in the order creates first, deletes last. */
  allOperations(): readonly Operation[] {
    return METHODS.flatMap((method) =>
      Object.entries(this.document.paths).flatMap(([path, item]) => {
        const details = item[method];
        return details === undefined ? [] : [{ method, path, details }];
      }),
    );
  }

  numbers(): readonly NumberSchema[] {
    return numbersIn(this.document);
  }

  bodyOf({ details }: Operation): SchemaOrRef | undefined {
    const body = details.requestBody;
    return body === undefined || '$ref' in body ? undefined : body.content['application/json']?.schema;
  }

  answerOf({ details }: Operation, status: string): SchemaOrRef | undefined {
    const answer = details.responses[status];
    return answer === undefined || '$ref' in answer ? undefined : answer.content?.['application/json']?.schema;
  }

  /** The codes that an error response names, from its examples. */
  errorCodesOf({ details }: Operation, status: string): readonly string[] {
    const answer = details.responses[status];
    if (answer === undefined) return [];
    const response = '$ref' in answer ? this.document.components?.responses?.[nameIn(answer.$ref)] : answer;
    if (response === undefined || '$ref' in response) throw new Error(`${status} has no response`);
    return [...response.description.matchAll(/^- `(\w+)`: /gm)].map(([, code = '']) => code);
  }

  /** The examples of errors, by their codes. */
  examples(): Readonly<Record<string, unknown>> {
    const examples = Object.entries(this.document.components?.examples ?? {});
    return Object.fromEntries(examples.map(([code, one]) => [code, '$ref' in one ? undefined : one.value]));
  }

  components(): readonly (readonly [name: string, schema: Schema])[] {
    const schemas = Object.entries(this.document.components?.schemas ?? {});
    return schemas.map(([name, schema]) => [name, this.resolve(schema)] as const);
  }

  resolve(schema: SchemaOrRef): Schema {
    if (!('$ref' in schema)) return schema;
    const found = this.document.components?.schemas?.[schema.$ref.replace('#/components/schemas/', '')];
    if (found === undefined) throw new Error(`the document has no ${schema.$ref}`);
    return this.resolve(found);
  }

  /** An example of the schema, built from the document's own examples. */
  exampleOf(schema: SchemaOrRef): unknown {
    return exampleOf(this.document, this.resolve(schema));
  }

  requiredFieldsOf(schema: SchemaOrRef): readonly string[] {
    return this.resolve(schema).required ?? [];
  }

  /** All schemas of the document, each once. */
  schemas(): readonly SchemaOrRef[] {
    const names = Object.keys(this.document.components?.schemas ?? {});
    const components = names.map((name): SchemaOrRef => ({ $ref: `#/components/schemas/${name}` }));
    const all = [...components, ...schemasIn(this.document.paths)];
    return [...new Map(all.map((schema) => [JSON.stringify(schema), schema])).values()];
  }

  /** The errors of a value in a strict validator; throws for an invalid schema. */
  problems(schema: SchemaOrRef, value: unknown): readonly string[] {
    return this.asItStands.problems(schema, value);
  }

  /** The errors of a value as above, and its undocumented fields. */
  differences(schema: SchemaOrRef, value: unknown): readonly string[] {
    const problems = this.problems(schema, value);
    return problems.length > 0 ? problems : this.closed.problems(schema, value);
  }
}

/** The name at the end of a reference. */
function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function schemasIn(value: unknown): readonly JsonObject[] {
  if (!isObject(value)) return Array.isArray(value) ? value.flatMap((item) => schemasIn(item)) : [];
  return Object.entries(value).flatMap(([key, field]) =>
    key === 'schema' && isObject(field) ? [field] : schemasIn(field),
  );
}

function numbersIn(value: unknown, names: readonly string[] = []): readonly NumberSchema[] {
  if (Array.isArray(value)) return value.flatMap((item) => numbersIn(item, names));
  if (!isObject(value)) return [];
  const type = (['integer', 'number'] as const).find((name) => [value['type']].flat().includes(name));
  const isParameter = typeof value['in'] === 'string';
  const here = isParameter ? [...names, String(value['name'])] : names;
  return [
    ...(type === undefined ? [] : [{ name: here.at(-1) ?? '', place: here.join('.'), type, schema: value }]),
    ...Object.entries(value).flatMap(([key, field]) => {
      if (key === 'example') return [];
      if (!['schemas', 'properties'].includes(key) || !isObject(field)) return numbersIn(field, here);
      return Object.entries(field).flatMap(([name, schema]) => numbersIn(schema, [...here, name]));
    }),
  ];
}

/** The path with its parameters filled in, in order; the last value also fills all further parameters. */
export function fillIn(path: string, ...refs: readonly unknown[]): string {
  let index = 0;
  return path.replaceAll(/\{\w+\}/g, () => {
    const ref = refs[Math.min(index, refs.length - 1)];
    index += 1;
    return encodeURIComponent(String(ref));
  });
}

export function withoutField(body: JsonObject, field: string): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== field));
}
