// A form from the input schema of a tool. Schemas are a server's own, and unchecked: what is not understood is typed as JSON.

export type FieldKind = 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'list' | 'json';

export interface FormField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly title: string;
  readonly hint: string | undefined;
  readonly isRequired: boolean;
  /** A required field that is empty is null then. */
  readonly isNullable: boolean;
  /** Of a choice: each value by how it is shown. */
  readonly choices: ReadonlyMap<string, unknown>;
  /** As the form shows it. */
  readonly initial: string;
  /** What the form of a value is, where that is not plain. */
  readonly example: unknown;
}

/** Why what was typed into a field cannot be sent. */
export class FieldError extends Error {}

/** More fields are easier to write as JSON. */
const MAX_FIELDS = 40;
/** Of objects in objects, in an example. Schemas may refer to themselves. */
const MAX_DEPTH = 4;
/** Browsers take more for a number, such as 0x10. */
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
const LOCAL_REFERENCE = /^#\/(\$defs|definitions)\/([^/]+)$/;

type Schema = Readonly<Record<string, unknown>>;

/** The fields of an object; undefined where a form of it would not be right. */
export function fieldsOf(schema: Schema | null): readonly FormField[] | undefined {
  const properties = schema?.['properties'] ?? {};
  if (schema === null || !isSchema(properties)) return undefined;
  if (['oneOf', 'anyOf', 'allOf', '$ref', 'if'].some((word) => word in schema)) return undefined;
  const entries = Object.entries(properties);
  if (entries.length > MAX_FIELDS) return undefined;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return entries.map(([name, property]) => fieldOf(name, property, required.includes(name), schema));
}

function fieldOf(name: string, property: unknown, isRequired: boolean, root: Schema): FormField {
  const { schema, isNullable } = plainOf(property, root);
  const choices = choicesOf(schema);
  const kind = kindOf(schema, choices, root);
  const { title, description, default: initial } = schema;
  return {
    name,
    kind,
    title: typeof title === 'string' ? title : name,
    hint: typeof description === 'string' ? description : undefined,
    isRequired,
    isNullable,
    choices,
    initial: initial === undefined ? '' : asText(initial, kind),
    example: kind === 'json' || kind === 'list' ? exampleOfSchema(schema, root, 0) : undefined,
  };
}

/** What a value is when it is not null, with references inside the document followed. */
function plainOf(property: unknown, root: Schema): { readonly schema: Schema; readonly isNullable: boolean } {
  const schema = resolved(isSchema(property) ? property : {}, root);
  const variants = schema['anyOf'] ?? schema['oneOf'];
  if (!Array.isArray(variants)) return { schema, isNullable: Array.isArray(schema['type']) && isNull(schema) };
  const others = variants.filter((each) => !isSchema(each) || each['type'] !== 'null');
  const [only] = others;
  if (others.length !== 1 || !isSchema(only)) return { schema, isNullable: false };
  const { anyOf: _any, oneOf: _one, ...around } = schema;
  return { schema: { ...resolved(only, root), ...around }, isNullable: others.length < variants.length };
}

function isNull({ type }: Schema): boolean {
  return Array.isArray(type) && type.includes('null');
}

function resolved(schema: Schema, root: Schema): Schema {
  const { $ref: reference, ...around } = schema;
  const [, place = '', name = ''] = typeof reference === 'string' ? (LOCAL_REFERENCE.exec(reference) ?? []) : [];
  const places = root[place];
  const target = isSchema(places) && Object.hasOwn(places, name) ? places[name] : undefined;
  return isSchema(target) ? { ...target, ...around } : schema;
}

function kindOf(schema: Schema, choices: FormField['choices'], root: Schema): FieldKind {
  if (choices.size > 0) return 'choice';
  switch (typeOf(schema)) {
    case 'string':
      return 'text';
    case 'number':
      return 'number';
    case 'integer':
      return 'integer';
    case 'boolean':
      return 'boolean';
    case 'array':
      return typeOf(plainOf(schema['items'], root).schema) === 'string' ? 'list' : 'json';
    default:
      return 'json';
  }
}

/** `["string", "null"]` is a text that may be left out. */
function typeOf({ type }: Schema): unknown {
  if (!Array.isArray(type)) return type;
  const others: readonly unknown[] = type.filter((each) => each !== 'null');
  return others.length === 1 ? others[0] : undefined;
}

function choicesOf({ enum: values }: Schema): ReadonlyMap<string, unknown> {
  const choices: readonly unknown[] = Array.isArray(values) ? values.filter((value) => value !== null) : [];
  const shown = new Map(choices.map((value) => [String(value), value]));
  const isPlain = choices.every((value) => value !== '' && typeof value !== 'object');
  // 1 and "1" would look alike.
  return isPlain && shown.size === choices.length ? shown : new Map();
}

function asText(value: unknown, kind: FieldKind): string {
  if (value === null) return '';
  if (kind === 'list' && Array.isArray(value)) return value.map(String).join('\n');
  return typeof value === 'string' && kind !== 'json' ? value : JSON.stringify(value);
}

/** What was typed into a field, as the tool takes it; `undefined` leaves the field out. @throws FieldError */
export function valueOf({ kind, isRequired, isNullable, choices }: FormField, text: string): unknown {
  if (text === '' && isRequired && isNullable) return null;
  if (kind === 'list') {
    const items = text.split('\n').filter((line) => line !== '');
    return items.length === 0 && !isRequired ? undefined : items;
  }
  if (text === '' && !isRequired) return undefined;
  switch (kind) {
    case 'text':
      return text;
    case 'boolean':
    case 'choice':
      if (text === '') throw new FieldError('Choose one.');
      return kind === 'boolean' ? text === 'true' : choices.get(text);
    case 'json':
      return parsed(text);
    default:
      return numberOf(text.trim(), kind === 'integer');
  }
}

function numberOf(text: string, isWhole: boolean): number {
  const value = Number(text);
  if (!NUMBER.test(text) || !Number.isFinite(value)) throw new FieldError('This must be a number.');
  if (isWhole && !Number.isInteger(value)) throw new FieldError('This must be a whole number.');
  if (isWhole && !Number.isSafeInteger(value))
    throw new FieldError('The page cannot send a number with so many digits.');
  return value;
}

/** @throws FieldError */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new FieldError('This must be JSON.');
  }
}

/** All arguments as a JSON text: those that were typed, and examples of others that the tool needs. */
export function jsonOf(fields: readonly FormField[], texts: Readonly<Record<string, string>>): string {
  const pairs = fields.map((field) => [field.name, valueOrExample(field, texts[field.name] ?? '')] as const);
  return JSON.stringify(Object.fromEntries(pairs.filter(([, value]) => value !== undefined)), null, 2);
}

function valueOrExample(field: FormField, text: string): unknown {
  try {
    return valueOf(field, text);
  } catch {
    return field.example ?? EXAMPLES[field.kind];
  }
}

/** The fields as a form shows what JSON says; undefined: it says what the form cannot. */
export function textsOf(fields: readonly FormField[], json: string): Readonly<Record<string, string>> | undefined {
  const value = argumentsIn(json);
  const names = new Set(fields.map(({ name }) => name));
  if (value === undefined || !Object.keys(value).every((name) => names.has(name))) return undefined;
  return Object.fromEntries(
    fields.map(({ name, kind }) => [name, Object.hasOwn(value, name) ? asText(value[name], kind) : '']),
  );
}

/** undefined: no object. */
export function argumentsIn(json: string): Schema | undefined {
  try {
    const value = parsed(json);
    return isSchema(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const EXAMPLES: Readonly<Record<FieldKind, unknown>> = {
  text: '',
  choice: '',
  number: 0,
  integer: 0,
  boolean: false,
  list: [],
  json: {},
};

function exampleOfSchema(property: unknown, root: Schema, depth: number): unknown {
  const { schema } = plainOf(property, root);
  const [choice] = choicesOf(schema).values();
  if (choice !== undefined) return choice;
  const { properties, items } = schema;
  switch (typeOf(schema)) {
    case 'array':
      return depth < MAX_DEPTH && isSchema(items) ? [exampleOfSchema(items, root, depth + 1)] : [];
    case 'string':
      return '';
    case 'boolean':
      return false;
    case 'number':
    case 'integer':
      return 0;
    default:
      if (depth >= MAX_DEPTH || !isSchema(properties)) return {};
      return Object.fromEntries(
        Object.entries(properties).map(([name, each]) => [name, exampleOfSchema(each, root, depth + 1)]),
      );
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
