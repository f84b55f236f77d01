import { describe, expect, it } from '@jest/globals';
import { validateSync } from 'class-validator';
import { IsTags, IsTagsText } from './is-tags.decorator.js';

class Sample {
  @IsTags()
  tags: unknown;

  @IsTagsText()
  text: unknown;
}

function brokenFields(fields: object): readonly string[] {
  return validateSync(Object.assign(new Sample(), { tags: {}, text: '{}' }, fields)).map(({ property }) => property);
}

const fields = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_item, index) => [`k${index}`, index]));
/** As many bytes as JSON. */
const ofBytes = (bytes: number): object => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });

describe('tags', () => {
  it.each([{}, { a: 1 }, { a: [null, { b: [true] }], ü: '€' }, fields(64), ofBytes(16_384)])(
    'accepts the tags %j',
    (tags) => {
      expect(brokenFields({ tags, text: JSON.stringify(tags) })).toEqual([]);
    },
  );

  it.each([[[]], [null], ['a'], [1], [fields(65)], [ofBytes(16_385)], [{ a: 'x\0' }], [{ 'x\ud800': 1 }]])(
    'may not be %j',
    (tags) => {
      expect(brokenFields({ tags, text: JSON.stringify(tags) })).toEqual(['tags', 'text']);
    },
  );

  it('counts bytes of tags, not characters', () => {
    expect(brokenFields({ tags: { a: '€'.repeat(6_000) } })).toEqual(['tags']);
  });

  it.each([
    undefined,
    ['{}'],
    {},
    '',
    '{',
    '{}{}',
    `{"a":${'['.repeat(64)}${']'.repeat(64)}}`,
    `{"a":${'['.repeat(9_000)}`,
  ])('refuses tags that are text like %j', (text) => {
    expect(brokenFields({ text })).toEqual(['text']);
  });
});
