import type { OpenAPIObject } from '@nestjs/swagger';
import { isObject, type JsonObject } from '../../src/common/json/read.js';

const METHODS = ['post', 'get', 'patch', 'put', 'delete'] as const;

type SchemaOrRef = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];
type Schema = Exclude<SchemaOrRef, { readonly $ref: string }>;
type PathItem = OpenAPIObject['paths'][string];

export interface Operation {
  readonly method: (typeof METHODS)[number];
  readonly path: string;
  readonly details: NonNullable<PathItem['get']>;
}

/** A schema of a number, wherever it stands. */
export interface NumberSchema {
  /** Of its property or parameter, e.g. `cost`. */
  readonly name: string;
  /** The same behind the name of its component, e.g. `UsagePeriodResponse.cost`. */
  readonly place: string;
  readonly schema: JsonObject;
}

/** An OpenAPI document, read the way a tool would. */
export class ApiDocument {
  constructor(private readonly document: OpenAPIObject) {}

  /** Creates first, deletes last. */
  operations(): readonly Operation[] {
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

  resolve(schema: SchemaOrRef): Schema {
    if (!('$ref' in schema)) return schema;
    const found = this.document.components?.schemas?.[schema.$ref.replace('#/components/schemas/', '')];
    if (found === undefined) throw new Error(`the document has no ${schema.$ref}`);
    return this.resolve(found);
  }

  /** The example of a schema, put together from those of its fields where it has none itself; undefined without any. */
  exampleOf(schema: SchemaOrRef): unknown {
    const { example, properties = {}, required = [] } = this.resolve(schema);
    if (example !== undefined) return example;
    const given = Object.entries(properties).flatMap(([name, field]) => {
      // An optional object belongs to the example when it says so itself, not when one of its fields does.
      const value = required.includes(name) ? this.exampleOf(field) : this.resolve(field).example;
      return value === undefined ? [] : [[name, value] as const];
    });
    return given.length === 0 ? undefined : Object.fromEntries(given);
  }

  requiredFieldsOf(schema: SchemaOrRef): readonly string[] {
    return this.resolve(schema).required ?? [];
  }

  /** Where a value has unknown fields, lacks required ones, or has a fraction where its schema has an integer. */
  differences(schema: SchemaOrRef, value: unknown, at = 'body'): readonly string[] {
    const resolved = this.resolve(schema);
    const { properties = {}, required = [], items, additionalProperties, allOf = [], oneOf } = resolved;
    if (oneOf !== undefined) {
      const [closest = []] = oneOf
        .map((one) => this.differences(one, value, at))
        .toSorted((a, b) => a.length - b.length);
      return closest;
    }
    if (Array.isArray(value)) {
      return items === undefined ? [] : value.flatMap((item, index) => this.differences(items, item, `${at}.${index}`));
    }
    if (typeof value === 'number') {
      return resolved.type !== 'integer' || Number.isInteger(value) ? [] : [`${at} is no integer`];
    }
    if (!isObject(value)) return [];
    const [wrapped] = allOf;
    if (wrapped !== undefined) return this.differences(wrapped, value, at);
    const isOpen = additionalProperties !== undefined && additionalProperties !== false;
    return [
      ...required.filter((name) => !(name in value)).map((name) => `${at}.${name} is missing`),
      ...Object.entries(value).flatMap(([name, field]) => {
        const known = properties[name];
        if (known !== undefined) return this.differences(known, field, `${at}.${name}`);
        return isOpen ? [] : [`${at}.${name} is not documented`];
      }),
    ];
  }
}

function numbersIn(value: unknown, names: readonly string[] = []): readonly NumberSchema[] {
  if (Array.isArray(value)) return value.flatMap((item) => numbersIn(item, names));
  if (!isObject(value)) return [];
  const isNumber = value['type'] === 'integer' || value['type'] === 'number';
  const isParameter = typeof value['in'] === 'string';
  const here = isParameter ? [...names, String(value['name'])] : names;
  return [
    ...(isNumber ? [{ name: here.at(-1) ?? '', place: here.join('.'), schema: value }] : []),
    ...Object.entries(value).flatMap(([key, field]) => {
      if (key === 'example') return [];
      if (!['schemas', 'properties'].includes(key) || !isObject(field)) return numbersIn(field, here);
      return Object.entries(field).flatMap(([name, schema]) => numbersIn(schema, [...here, name]));
    }),
  ];
}

/** The path with its parameters filled in, in their order; the last value also stands for those that follow. */
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
