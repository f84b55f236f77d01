import { describe, expect, it } from '@jest/globals';
import { IsInt, IsString } from 'class-validator';
import { fieldError, GatewayError, invalidField } from '../errors/gateway.error.js';
import { PageQuery } from '../pagination/page.query.js';
import { AcceptedBy, BodyRules } from './body-rules.js';
import { Nested as NestedField } from './bounded-fields.js';
import { GatewayValidationPipe } from './gateway-validation.pipe.js';
import { IsMetadata } from './is-metadata.decorator.js';
import { Optional } from './optional.decorator.js';

class Flat {
  @IsString()
  readonly name: string;
}

class Child {
  @IsInt()
  readonly count: number;

  @Optional()
  @IsMetadata()
  readonly labels?: Record<string, string>;
}

class Nested {
  @Optional()
  @NestedField(() => Child)
  readonly child?: Child;
}

const pipe = new GatewayValidationPipe();

async function body(value: unknown, metatype: new () => object = Flat): Promise<unknown> {
  return pipe.transform(value, { type: 'body', metatype });
}

async function paramsOf(work: Promise<unknown>): Promise<readonly (string | null)[]> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof GatewayError)) throw new Error('nothing was refused');
  expect(error.code).toBe('validation_failed');
  return error.details?.map((detail) => detail.param) ?? [error.param];
}

describe('GatewayValidationPipe for bodies', () => {
  it('returns a body unchanged when the predicate of its DTO accepts it', async () => {
    @AcceptedBy(() => true)
    class Quick {}
    const value = { name: 'Search' };
    expect(await body(value, Quick)).toBe(value);
  });

  it('accepts a body with nested objects', async () => {
    expect(await body({ child: { count: 1 } }, Nested)).toEqual({ child: { count: 1 } });
  });

  it('keeps free-form objects as parsed, whatever their fields are named', async () => {
    const labels: unknown = JSON.parse('{"__proto__": "a", "constructor": "b", "toString": "c", "prototype": "d"}');
    const passed = await body({ child: { count: 1, labels } }, Nested);
    expect(JSON.stringify(passed)).toBe(JSON.stringify({ child: { count: 1, labels } }));
  });

  it.each(['{"__proto__": {}}', '{"constructor": {}}', '{"toString": 1}'])(
    'refuses a body when a free-form object in it is %s',
    async (json) => {
      expect(await paramsOf(body({ child: { count: 1, labels: JSON.parse(json) } }, Nested))).toContain('child.labels');
    },
  );

  it('refuses inherited names in other objects, without side effects', async () => {
    const value = JSON.parse('{"child": {"count": {"constructor": "a"}, "constructor": "b"}}');
    expect(new Set(await paramsOf(body(value, Nested)))).toEqual(new Set(['child.count', 'child.constructor']));
    expect(await paramsOf(body({ child: { count: 1, toString: 1 } }, Nested))).toEqual(['child.toString']);
  });

  it('treats a missing body as one without fields', async () => {
    expect(await paramsOf(body(undefined))).toEqual(['name']);
    expect(await body(undefined, Nested)).toEqual({});
  });

  it.each(['text', 1, true, null, [], [{ name: 'Search' }]])('refuses the body %j', async (value) => {
    expect(await paramsOf(body(value))).toEqual([null]);
  });

  it.each([
    [{ name: 1 }, ['name']],
    [{ name: 'Search', extra: 1 }, ['extra']],
    [{ extra: 1 }, ['extra', 'name']],
    [JSON.parse('{"name": "Search", "__proto__": {"admin": true}}'), ['__proto__']],
    [{ name: 'Search', constructor: 1, toString: 2 }, ['constructor', 'toString']],
  ])('names the invalid fields of the body %j', async (value, params) => {
    expect(new Set(await paramsOf(body(value)))).toEqual(new Set(params));
  });

  it('names the path of a nested field', async () => {
    expect(await paramsOf(body({ child: { count: 'one' } }, Nested))).toEqual(['child.count']);
    expect(await paramsOf(body({ child: { count: 1, extra: 1 } }, Nested))).toEqual(['child.extra']);
    expect(new Set(await paramsOf(body({ child: 1 }, Nested)))).toEqual(new Set(['child']));
  });
});

describe('rules between the fields of a body', () => {
  class Range {
    @IsInt()
    readonly from: number;

    @IsInt()
    readonly to: number;

    @Optional()
    @IsString()
    readonly name?: string;
  }

  const rules = new BodyRules();
  rules.add(Range, ['from', 'to'], ({ from, to }) => (from < to ? [] : [fieldError('to', 'must be after from')]));
  rules.add(Range, ['name'], ({ name }) => {
    if (name === 'taken') throw invalidField('name', 'is taken');
    if (name === 'defect') throw new TypeError('a defect');
  });
  const ruled = new GatewayValidationPipe(rules);
  const range = async (value: unknown): Promise<unknown> => ruled.transform(value, { type: 'body', metatype: Range });

  it.each([
    ['one of them', { from: 2, to: 1 }, ['to']],
    ['all of them', { from: 2, to: 1, name: 'taken' }, ['to', 'name']],
    ['one of them beside a broken field', { from: 'x', to: 1, name: 'taken' }, ['from', 'name']],
    ['one of them beside a missing field', { from: 1, name: 'taken' }, ['to', 'name']],
    ['one of them beside an unknown field', { from: 2, to: 1, extra: 1 }, ['extra', 'to']],
    ['none of them, as its fields are broken', { from: 2, to: 'x' }, ['to']],
  ])('reports all broken rules when a body breaks %s', async (_what, value, params) => {
    expect(await paramsOf(range(value))).toEqual(params);
  });

  it('returns a body that meets the rules between its fields unchanged', async () => {
    const value = { from: 1, to: 2, name: 'free' };
    expect(await range(value)).toEqual(value);
  });

  it('does not hide a defect in a rule', async () => {
    await expect(range({ from: 1, to: 2, name: 'defect' })).rejects.toThrow(TypeError);
  });
});

describe('GatewayValidationPipe for queries', () => {
  const query = async (value: unknown): Promise<unknown> =>
    pipe.transform(value, { type: 'query', metatype: PageQuery });

  it('reads numbers of a query from text and fills in defaults', async () => {
    expect(await query({ current_page: '2' })).toMatchObject({ current_page: 2, page_size: 20 });
  });

  it('refuses a query with an unknown or invalid parameter', async () => {
    expect(await paramsOf(query({ page: '1' }))).toEqual(['page']);
    expect(new Set(await paramsOf(query({ page_size: 'all' })))).toEqual(new Set(['page_size']));
  });
});
