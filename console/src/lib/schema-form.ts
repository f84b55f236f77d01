// A form from the input schema of a tool. Schemas are a server's own, and unchecked: what is not understood is typed as JSON.

export type FieldKind = 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'list' | 'json';

export interface FormField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly title: string;
  readonly hint: string | undefined;
  readonly isRequired: boolean;
  /** Of a choice. */
  readonly choices: readonly string[];
  /** As the form shows it. */
  readonly initial: string;
}

/** More fields are easier to write as JSON. */
const MAX_FIELDS = 40;

type Schema = Readonly<Record<string, unknown>>;

/** The fields of an object; undefined where a form of it would not be right. */
export function fieldsOf(schema: Schema | null): readonly FormField[] | undefined {
  const properties = schema?.['properties'] ?? {};
  if (schema === null || !isSchema(properties)) return undefined;
  if (['oneOf', 'anyOf', 'allOf', '$ref', 'if'].some((word) => word in schema)) return undefined;
  const entries = Object.entries(properties);
  if (entries.length > MAX_FIELDS) return undefined;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return entries.map(([name, property]) => fieldOf(name, isSchema(property) ? property : {}, required.includes(name)));
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): FormField {
  const kind = kindOf(schema);
  const { title, description, default: initial } = schema;
  return {
    name,
    kind,
    title: typeof title === 'string' ? title : name,
    hint: typeof description === 'string' ? description : undefined,
    isRequired,
    choices: kind === 'choice' ? choicesOf(schema) : [],
    initial: initial === undefined ? '' : asText(initial, kind),
  };
}

function kindOf(schema: Schema): FieldKind {
  if (choicesOf(schema).length > 0) return 'choice';
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
      return isSchema(schema['items']) && typeOf(schema['items']) === 'string' ? 'list' : 'json';
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

function choicesOf({ enum: values }: Schema): readonly string[] {
  if (!Array.isArray(values) || !values.every((value) => typeof value === 'string' && value !== '')) return [];
  return values.map(String);
}

function asText(value: unknown, kind: FieldKind): string {
  if (kind === 'list' && Array.isArray(value)) return value.map(String).join('\n');
  return typeof value === 'string' && kind !== 'json' ? value : JSON.stringify(value);
}

/** What was typed into a field, as the tool takes it; `undefined` leaves the field out. @throws Error that names the field */
export function valueOf({ name, kind, isRequired }: FormField, text: string): unknown {
  if (kind === 'boolean') return text === '' ? undefined : text === 'true';
  if (kind === 'list') {
    const items = text.split('\n').filter((line) => line !== '');
    return items.length === 0 && !isRequired ? undefined : items;
  }
  if (text === '' && !isRequired) return undefined;
  if (kind === 'text' || kind === 'choice') return text;
  if (kind === 'json') return parsed(text, name);
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new Error(`${name} must be a number.`);
  if (kind === 'integer' && !Number.isInteger(value)) throw new Error(`${name} must be a whole number.`);
  return value;
}

/** @throws Error that names the field */
export function parsed(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name} must be JSON.`);
  }
}

/** All arguments as a JSON text to begin with. */
export function exampleOf(fields: readonly FormField[]): string {
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name, kind }) => [name, EXAMPLES[kind]]);
  return JSON.stringify(Object.fromEntries(required), null, 2);
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

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
