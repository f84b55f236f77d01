import { describe, expect, it } from '@jest/globals';
import { IsInt, IsString } from 'class-validator';
import { GatewayError } from '../errors/gateway.error.js';
import { AsGiven, Items, ListOf, MaxFields, Nested } from './bounded-fields.js';
import { GatewayValidationPipe } from './gateway-validation.pipe.js';
import { Optional } from './optional.decorator.js';
import { cpuTimeOf } from '../../../test/support/cpu-time.js';

class Item {
  @IsString()
  readonly name: string;

  @Optional()
  @Items({ max: 2 })
  @IsString({ each: true })
  readonly tags?: string[];
}

class Body {
  @Optional()
  @ListOf(() => Item, { min: 1, max: 3, unique: ['name'] })
  readonly items?: Item[];

  @Optional()
  @Items({ min: 1, max: 3, unique: true })
  @IsInt({ each: true })
  readonly numbers?: number[];

  @Optional()
  @MaxFields(2)
  readonly labels?: Record<string, unknown>;

  @Optional()
  @Nested(() => Item)
  readonly main?: Item;

  @Optional()
  @IsString()
  readonly text?: string;
}

class ExtendedBody extends Body {
  @Optional()
  @AsGiven(1)
  @IsInt()
  readonly more?: number;
}

async function made(value: unknown, metatype: new () => object = Body): Promise<unknown> {
  return new GatewayValidationPipe().transform(value, { type: 'body', metatype });
}

async function refusalOf(value: unknown, metatype?: new () => object): Promise<GatewayError> {
  const error: unknown = await made(value, metatype).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof GatewayError)) throw new Error('nothing was refused');
  return error;
}

const item = (name: string): object => ({ name });

describe('lists and maps of a body', () => {
  it('accepts lists and maps up to their maximum', async () => {
    const body = {
      items: ['a', 'b', 'c'].map(item),
      numbers: [1, 2, 3],
      labels: { a: [1, { deep: true }], toString: 1 },
      main: { name: 'm', tags: ['x', 'y'] },
    };
    expect(await made(body)).toEqual(body);
  });

  it('keeps lists and maps of plain values as they were sent, and makes instances of nested objects', async () => {
    const labels = { a: { b: 1 } };
    const body = await made({ labels, items: [{ name: 'a' }] });
    expect(Reflect.get(Object(body), 'labels')).toBe(labels);
    expect(Reflect.get(Object(body), 'items')[0]).toBeInstanceOf(Item);
  });

  it.each([
    ['a list of objects', 'items', { items: ['a', 'b', 'c', 'd'].map(item) }, 'items must have at most 3 items'],
    ['a list of values', 'numbers', { numbers: [1, 2, 3, 4] }, 'numbers must have at most 3 items'],
    ['a map', 'labels', { labels: { a: 1, b: 2, c: 3 } }, 'labels must have at most 2 fields'],
    [
      'a list in an object',
      'main.tags',
      { main: { name: 'm', tags: ['a', 'b', 'c'] } },
      'main.tags must have at most 2 items',
    ],
    [
      'a list in a list',
      'items.1.tags',
      { items: [item('a'), { name: 'b', tags: [1, 2, 3] }] },
      'items.1.tags must have at most 2 items',
    ],
  ])('reports %s beyond its maximum first and alone', async (_what, param, part, message) => {
    const error = await refusalOf({ ...part, text: 1, unknown: [] });
    expect(error).toMatchObject({ code: 'validation_failed', param, message, details: [{ param, message }] });
  });

  it.each([
    [{ labels: { a: [[1, [2, 3]], { b: 4 }], c: 5 } }, undefined],
    [{ labels: { a: Array.from({ length: 9_999 }, () => 1) } }, undefined],
    [{ labels: { a: Array.from({ length: 10_000 }, () => 1) } }, 'labels must have at most 10000 values'],
    [{ labels: { a: [Array.from({ length: 5_000 }, () => [1])] } }, 'labels must have at most 10000 values'],
    [
      { main: { name: 'm', tags: [Array.from({ length: 10_000 }, () => 1)] } },
      'main.tags must have at most 10000 values',
    ],
    [
      { items: [item('a'), { name: 'b', tags: [{ a: Array.from({ length: 10_000 }, () => 1) }] }] },
      'items.1.tags must have at most 10000 values',
    ],
  ])('counts the values of nested lists and objects too (%#)', async (body, message) => {
    if (message === undefined) return expect(await made(body)).toEqual(body);
    expect((await refusalOf({ ...body, text: 1 })).details).toEqual([{ param: message.split(' ', 1)[0], message }]);
  });

  it('knows the maxima of a class that it extends', async () => {
    expect(await refusalOf({ numbers: [1, 2, 3, 4] }, ExtendedBody)).toMatchObject({ param: 'numbers' });
    expect(await made({ more: 1, numbers: [1] }, ExtendedBody)).toEqual({ more: 1, numbers: [1] });
  });

  it.each([
    ['the same value twice', { numbers: [1, 2, 1] }, 'numbers', 'numbers must not have the same item twice'],
    ['two items of one name', { items: [item('a'), item('a')] }, 'items', 'items must not have the same name twice'],
    ['no items', { numbers: [] }, 'numbers', 'numbers must have at least 1 item'],
    ['an object for a list', { items: { 0: item('a') } }, 'items', 'items must be a list'],
    ['a list for an object', { main: [item('a')] }, 'main', 'main must be an object'],
    ['a list for a map', { labels: [1] }, 'labels', 'labels must be an object of at most 2 fields'],
    ['an item that is a list', { items: [[item('a')]] }, 'items', undefined],
    ['an item that is null', { items: [null] }, 'items', undefined],
    ['an object for text', { text: { toString: 1, constructor: 'a' } }, 'text', 'text must be a string'],
    ['a list for text', { text: ['a'] }, 'text', 'text must be a string'],
  ])('refuses %s', async (_what, body, param, message) => {
    const error = await refusalOf(body);
    expect(error.details?.map((detail) => detail.param)).toContain(param);
    if (message !== undefined) expect(error.details?.map((detail) => detail.message)).toContain(message);
  });

  it.each([
    ['a list of objects', { items: Array.from({ length: 200_000 }, () => ({})) }],
    ['different values', { numbers: Array.from({ length: 200_000 }, (_, index) => index) }],
    ['an unknown field', { unknown: Array.from({ length: 200_000 }, () => ({ a: {} })) }],
    ['a field for text', { text: Array.from({ length: 200_000 }, () => ({ a: {} })) }],
    ['a map', { labels: { a: Array.from({ length: 200_000 }, () => [1]) } }],
    ['a list that is kept as it was sent', { more: [Array.from({ length: 200_000 }, () => 1)] }],
  ])('refuses 200,000 items in %s without a look at each', async (_what, body) => {
    expect(await cpuTimeOf(() => refusalOf(body, ExtendedBody))).toBeLessThan(200);
  });
});
