import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { isObject, type JsonObject } from '../../src/common/json/read.js';

/** OpenAPI keywords that JSON Schema lacks: the container of the schemas, and a note for readers. */
const OPENAPI_KEYWORDS = ['components', 'example'];

/** Checks values against the schemas of an OpenAPI 3.1 document: they are JSON Schema, so no translation is needed. */
export class SchemaCheck {
  private readonly ajv = new Ajv2020({ strict: true, allErrors: true });
  private readonly compiled = new Map<object, ValidateFunction>();

  constructor(
    private readonly components: unknown,
    private readonly form = (schema: JsonObject): JsonObject => schema,
  ) {
    formats.default(this.ajv);
    this.ajv.addVocabulary(OPENAPI_KEYWORDS);
    // A keyword of OpenAPI 3.0. 3.1 does not have it, but the validator does.
    this.ajv.removeKeyword('nullable');
  }

  /** The errors of a value, each after its path; throws for an invalid schema. */
  problems(schema: object, value: unknown): readonly string[] {
    const known = this.compiled.get(schema);
    const validate = known ?? this.ajv.compile(this.form({ ...schema, components: this.components }));
    this.compiled.set(schema, validate);
    return validate(value) ? [] : (validate.errors ?? []).map((error) => toText(error));
  }
}

/** A schema whose objects have only the fields that it names. */
export function closed(schema: JsonObject): JsonObject {
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closedValue(value)]));
  const isOpen = 'additionalProperties' in schema || ![schema['type']].flat().includes('object');
  return isOpen ? copy : { ...copy, additionalProperties: false };
}

function closedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => closedValue(item));
  return isObject(value) ? closed(value) : value;
}

function toText({ instancePath, message, params }: ErrorObject): string {
  return `body${instancePath.replaceAll('/', '.')} ${message} ${JSON.stringify(params)}`;
}
