import { applyDecorators } from '@nestjs/common';
import { Transform, type TransformFnParams, Type } from 'class-transformer';
import { buildMessage, IsObject, ValidateBy, ValidateNested } from 'class-validator';
import { invalidField } from '../errors/gateway.error.js';
import { isObject } from '../json/read.js';
import { withMark } from './inherited-names.js';

// Every list and map of a body goes through one of these decorators. They register its maximum, which is judged before any
// other rule: the other rules, and class-transformer, cost a microsecond to a millisecond for each item.

type Dto = new () => object;

/** How a field with an object or a list is read. */
type FieldShape =
  | { readonly kind: 'nested'; readonly type: () => Dto }
  | { readonly kind: 'list'; readonly type: () => Dto; readonly max: number }
  | { readonly kind: 'given'; readonly max: number; readonly maxValues: number };

const SHAPES = 'tollgate:field-shapes';

/** All values within a field that is kept as it was sent: more than any such field can use. */
const MAX_VALUES = 10_000;

interface ListRules {
  /** Default: 0. */
  readonly min?: number;
  readonly max: number;
}

/** A nested object. */
export function Nested(type: () => Dto): PropertyDecorator {
  return applyDecorators(Shaped({ kind: 'nested', type }), IsObject(), ValidateNested(), Type(type));
}

/**
 * A list of nested objects.
 * @param unique names the fields in which two items must differ
 */
export function ListOf<Item extends object>(
  type: () => new () => Item,
  rules: ListRules & { readonly unique?: readonly (keyof Item & string)[] },
): PropertyDecorator {
  return applyDecorators(
    Shaped({ kind: 'list', type, max: rules.max }),
    IsList(rules),
    IsObject({ each: true }),
    ValidateNested({ each: true }),
    Type(type),
  );
}

/** A list of plain values, kept as it was sent. The rules of the items follow, with `each`. */
export function Items(rules: ListRules & { readonly unique?: true }): PropertyDecorator {
  return applyDecorators(AsGiven(rules.max), IsList(rules));
}

/** An object with free names, kept as it was sent. */
export function MaxFields(max: number, maxValues = MAX_VALUES): PropertyDecorator {
  return applyDecorators(AsGiven(max, maxValues), IsMap(max));
}

/**
 * Keeps a list, or an object with free names, as it was sent: class-transformer would copy it without its inherited names. For
 * decorators with a rule of their own; `max` is how many items or fields it may have, and `maxValues` counts those of nested
 * lists and objects too: rules walk through all of them.
 */
export function AsGiven(max: number, maxValues = MAX_VALUES): PropertyDecorator {
  const unwrap = Transform(({ value }: TransformFnParams): unknown => (isHolder(value) ? value() : value));
  return applyDecorators(Shaped({ kind: 'given', max, maxValues }), unwrap);
}

/** The classes of the nested objects of a class, and of theirs. */
export function nestedClasses(type: Dto): readonly Dto[] {
  return [...shapesOf(type).values()].flatMap((shape) =>
    shape.kind === 'given' ? [] : [shape.type(), ...nestedClasses(shape.type())],
  );
}

/** The fields of a class that take a list or an object, each with its maximum of items or names. */
export function boundedFields(type: Dto): ReadonlyMap<string | symbol, number> {
  return new Map([...shapesOf(type)].map(([name, shape]) => [name, shape.kind === 'nested' ? Infinity : shape.max]));
}

/**
 * Copies an object for class-transformer. Inherited names are marked, so that they are refused where they do not belong. Of
 * lists and objects, the copy has only what the class expects: an empty one stands for any other, which breaks the field's rules.
 * @throws GatewayError `validation_failed` that names the first list or map beyond its maximum
 */
export function copyForClass(type: Dto | undefined, given: unknown, path = ''): unknown {
  if (type === undefined || !isObject(given)) return given;
  const shapes = shapesOf(type);
  const entries = Object.entries(given).map(([name, value]): [string, unknown] => {
    const place = path === '' ? name : `${path}.${name}`;
    return [
      withMark(name),
      typeof value === 'object' && value !== null ? copyField(shapes.get(name), value, place) : value,
    ];
  });
  return Object.fromEntries(entries);
}

function copyField(shape: FieldShape | undefined, value: object, path: string): unknown {
  if (shape === undefined) return emptyLike(value);
  if (shape.kind === 'nested') return Array.isArray(value) ? [] : copyForClass(shape.type(), value, path);
  assertSize(value, shape.max, path);
  // A function, since class-transformer copies every object.
  if (shape.kind === 'given') {
    if (hasMoreValuesThan(shape.maxValues, value))
      throw invalidField(path, `must have at most ${shape.maxValues} values`);
    return () => value;
  }
  if (!Array.isArray(value)) return {};
  return value.map((item: unknown, index) =>
    isObject(item) ? copyForClass(shape.type(), item, `${path}.${index}`) : emptyLike(item),
  );
}

function assertSize(value: object, max: number, path: string): void {
  const isList = Array.isArray(value);
  const size = isList ? value.length : Object.keys(value).length;
  if (size > max) throw invalidField(path, `must have at most ${max} ${isList ? 'items' : 'fields'}`);
}

function hasMoreValuesThan(limit: number, value: object): boolean {
  if (limit === Infinity) return false;
  const open: object[] = [value];
  let count = 0;
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const members: readonly unknown[] = Array.isArray(one) ? one : Object.values(one);
    count += members.length;
    if (count > limit) return true;
    for (const member of members) if (typeof member === 'object' && member !== null) open.push(member);
  }
  return false;
}

function emptyLike(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  return isObject(value) ? {} : value;
}

function isHolder(value: unknown): value is () => unknown {
  return typeof value === 'function';
}

function Shaped(shape: FieldShape): PropertyDecorator {
  return (prototype, property) => {
    Reflect.defineMetadata(SHAPES, new Map([...shapesIn(prototype), [property, shape]]), prototype);
  };
}

function shapesOf(type: Dto): ReadonlyMap<string | symbol, FieldShape> {
  return shapesIn(type.prototype);
}

function shapesIn(prototype: object): ReadonlyMap<string | symbol, FieldShape> {
  return Reflect.getMetadata(SHAPES, prototype) ?? new Map();
}

function IsMap(max: number): PropertyDecorator {
  return ValidateBy({
    name: 'isMap',
    constraints: [max],
    validator: {
      validate: (value: unknown) => isObject(value) && Object.keys(value).length <= max,
      defaultMessage: buildMessage(() => `$property must be an object of at most ${max} fields`),
    },
  });
}

function IsList(rules: ListRules & { readonly unique?: readonly string[] | true }): PropertyDecorator {
  return ValidateBy({
    name: 'isList',
    constraints: [rules],
    validator: {
      validate: (value: unknown) => problemOf(value, rules) === undefined,
      defaultMessage: (args) => `$property must ${problemOf(args?.value, rules) ?? 'be valid'}`,
    },
  });
}

function problemOf(
  value: unknown,
  { min = 0, max, unique }: ListRules & { readonly unique?: readonly string[] | true },
): string | undefined {
  if (!Array.isArray(value)) return 'be a list';
  if (value.length < min) return `have at least ${min} ${min === 1 ? 'item' : 'items'}`;
  // Queries are judged here, where lists are text until they are parsed.
  if (value.length > max) return `have at most ${max} items`;
  if (unique === undefined) return undefined;
  const keyOf = (item: unknown): unknown =>
    unique === true || !isObject(item) ? item : unique.map((name) => item[name]);
  const keys = new Set(value.map((item: unknown) => JSON.stringify(keyOf(item))));
  if (keys.size === value.length) return undefined;
  return `not have the same ${unique === true ? 'item' : unique.join(' and ')} twice`;
}
