import type { OpenAPIObject } from '@nestjs/swagger';
import { getMetadataStorage } from 'class-validator';
import { isObject } from '../common/json/read.js';
import { boundedFields, nestedClasses } from '../common/validation/bounded-fields.js';
import { type Document, parameterSchemasOf, type SchemaOrRef } from './document.js';

type Rule = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];
type Facets = Readonly<Record<string, unknown>>;

/** Rules that the generator does not read, or reads less exactly, by their names in class-validator. */
const FACETS: Readonly<Record<string, (rule: Rule) => Facets>> = {
  isNumber: () => ({ format: 'double' }),
  isLength: ({ constraints: [minLength, maxLength] }) => ({ minLength, maxLength }),
  isNotBlank: () => ({ pattern: '\\S' }),
  maxLength: (rule) => ({ maxLength: rule.constraints[0] }),
  matches: patternOf,
  isPrice: patternOf,
  isList: ({ constraints: [rules] }) => listFacets(rules),
  isNotEmpty: () => ({ minLength: 1 }),
};

function patternOf({ constraints: [form] }: Rule): Facets {
  return form instanceof RegExp ? { pattern: form.source } : {};
}

function listFacets(rules: unknown): Facets {
  const { min = 0, unique } = isObject(rules) ? rules : {};
  return { ...(min === 0 ? {} : { minItems: min }), ...(unique === undefined ? {} : { uniqueItems: true }) };
}

/** Copies the validation rules of the classes into their schemas, so that the document states what the gateway checks. */
export function writeValidationRules(document: OpenAPIObject, classes: readonly (new () => object)[]): void {
  for (const target of classes) {
    const schema = document.components?.schemas?.[target.name];
    if (schema === undefined || '$ref' in schema) continue;
    for (const rule of getMetadataStorage().getTargetValidationMetadatas(target, '', false, false)) {
      const property = schema.properties?.[rule.propertyName];
      const facets = rule.name === undefined ? undefined : FACETS[rule.name]?.(rule);
      if (property !== undefined && facets !== undefined && !rule.each) Object.assign(property, facets);
    }
    for (const [name, max] of boundedFields(target)) writeMaximum(schema.properties?.[String(name)], max);
  }
}

/** Of a list or a map; a field may also be one of several, as in "a text or a list of texts". */
function writeMaximum(property: SchemaOrRef | undefined, max: number): void {
  if (property === undefined || '$ref' in property || max === Infinity) return;
  for (const schema of [property, ...(property.oneOf ?? [])]) {
    if ('$ref' in schema) continue;
    const types = new Set<unknown>([schema.type].flat());
    if (types.has('array')) schema.maxItems = max;
    if (types.has('object')) schema.maxProperties = max;
  }
}

const RULES_OF_PARSED_VALUES = ['minItems', 'maxItems', 'uniqueItems', 'additionalProperties'] as const;

/** Removes rules of lists and objects from text parameters. The generator takes them from the parsed value of the text. */
export function removeRulesOfParsedText(document: Pick<Document, 'paths'>): void {
  for (const { schema } of parameterSchemasOf(document)) {
    if (schema.type === 'string') for (const rule of RULES_OF_PARSED_VALUES) delete schema[rule];
  }
}

/** Classes of the parameters of handlers, bodies and queries, and of the objects in them. */
export function parameterClasses(controllers: readonly (new () => object)[]): readonly (new () => object)[] {
  const found = controllers.flatMap((controller) =>
    Object.getOwnPropertyNames(controller.prototype).flatMap((name): unknown[] => {
      const types: unknown = Reflect.getMetadata('design:paramtypes', controller.prototype, name);
      return Array.isArray(types) ? types : [];
    }),
  );
  const classes = found.filter((type) => isClass(type));
  return [...new Set(classes.flatMap((type) => [type, ...nestedClasses(type)]))];
}

function isClass(type: unknown): type is new () => object {
  return typeof type === 'function' && type !== Object && type !== String;
}
