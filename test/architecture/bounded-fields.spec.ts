// Every list and every object that a body or a query takes has a maximum, which is judged before any other rule.
import { beforeAll, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';
import { boundedFields, copyForClass } from '../../src/common/validation/bounded-fields.js';
import { FOREIGN_OPTIONS } from '../../src/rerank/rerank.types.js';
import { type Dto, dtoClasses, fieldsOf } from '../support/dto-classes.js';

/** Rules of class-validator for lists, maps and nested objects. */
const RULES = new Set(['isArray', 'isObject', 'isNotEmptyObject', 'isInstance', 'nestedValidation']);

let classes: readonly Dto[] = [];

beforeAll(async () => {
  classes = await dtoClasses();
});

function rulesOf(dto: Dto, field: string): readonly (string | undefined)[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  const own = rules.filter(({ propertyName }) => propertyName === field);
  return own.map(({ each, name, type }) => (each ? 'each' : (name ?? type)));
}

function isCollectionRule(rule: string | undefined): boolean {
  return rule !== undefined && (rule === 'each' || rule.startsWith('array') || RULES.has(rule));
}

it('gives every field with a rule for lists or objects a maximum', () => {
  const found = classes.flatMap((dto) =>
    fieldsOf(dto)
      .filter((field) => !boundedFields(dto).has(field) && rulesOf(dto, field).some(isCollectionRule))
      .map((field) => `${dto.name}.${field}`),
  );
  expect(classes.length).toBeGreaterThan(30);
  expect(found).toEqual([]);
});

/** An empty list or object stands for any other one where a class expects none, so it has to break a rule. */
it('refuses lists and objects in every field without a maximum', () => {
  const found = classes.flatMap((dto) =>
    fieldsOf(dto)
      .filter((field) => !boundedFields(dto).has(field) && !FOREIGN_OPTIONS.some((name) => name === field))
      .filter((field) => [{}, []].some((value) => accepts(dto, field, value)))
      .map((field) => `${dto.name}.${field}`),
  );
  expect(found).toEqual([]);
});

function accepts(dto: Dto, field: string, value: object): boolean {
  const errors = validateSync(plainToInstance(dto, copyForClass(dto, { [field]: value })));
  return !errors.some(({ property }) => property === field);
}

it('bounds every list and map by a hundred thousand', () => {
  const maxima = classes.flatMap((dto) => [...boundedFields(dto).values()].filter((max) => max !== Infinity));
  expect(Math.max(...maxima)).toBe(100_000);
});
