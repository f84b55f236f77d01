import { describe, expect, it } from '@jest/globals';
import { type JsonField, walkFields } from './fields.js';

type FieldValues = Pick<JsonField, keyof JsonField>;

/** All that is known of each field, as plain values. */
function fieldsOf(text: string): readonly FieldValues[] {
  const fields: FieldValues[] = [];
  walkFields(Buffer.from(text), (field) => {
    const { name, member, text: value, bytes, isNull, object, depth, start, end } = field;
    fields.push({ name, member, text: value, bytes, isNull, object, depth, start, end });
  });
  return fields;
}

function textsOf(text: string): readonly unknown[] {
  return fieldsOf(text).map(({ name, text: value }) => [name, value]);
}

describe('walkFields', () => {
  it('visits the fields of all objects, with the member that they stand in', () => {
    const text = '{"model":"m","list":[{"type":"Text","more":{"url":null}}],"last": 1}';
    const item = { member: 'list', object: text.indexOf('{"type'), depth: 3 };
    const plain = { text: undefined, bytes: 0, isNull: false };
    const valueAt = (value: string, length = value.length): object => {
      const start = text.indexOf(value);
      return { start, end: start + length };
    };
    expect(fieldsOf(text)).toEqual([
      {
        name: 'model',
        member: 'model',
        text: 'm',
        bytes: 3,
        isNull: false,
        object: 0,
        depth: 1,
        ...valueAt('"m",', 3),
      },
      { ...plain, name: 'list', member: 'list', object: 0, depth: 1, ...valueAt('[', 0) },
      { ...plain, ...item, name: 'type', text: 'text', bytes: 6, ...valueAt('"Text"') },
      { ...plain, ...item, name: 'more', ...valueAt('{"url', 0) },
      {
        ...plain,
        name: 'url',
        member: 'list',
        isNull: true,
        object: text.indexOf('{"url'),
        depth: 4,
        ...valueAt('null'),
      },
      { ...plain, name: 'last', member: 'last', object: 0, depth: 1, ...valueAt(' 1') },
    ]);
  });

  it.each([
    ['{"image\\u005furl":"a\\/b"}', [['image_url', 'a/b']]],
    ['{"IMAGE_URL" : "A"}', [['image_url', 'a']]],
    [
      '{"file\\u017F":1,"to\\u212a":2}',
      [
        ['files', undefined],
        ['tok', undefined],
      ],
    ],
    ['{"type":\n"\\u0069mage"}', [['type', 'image']]],
  ])('reads escapes and case as a provider may: %s', (text, expected) => expect(textsOf(text)).toEqual(expected));

  it('does not take a text for a field', () => {
    expect(textsOf('{"text":"{\\"type\\":\\"image\\"}","list":["type","image"]}')).toEqual([
      ['text', '{"type":"image"}'],
      ['list', undefined],
    ]);
  });

  it('reads the beginning of a long text, and no long name', () => {
    const [field, long] = fieldsOf(`{"url":"data:${'A'.repeat(1_000)}","${'n'.repeat(1_000)}":1}`);
    expect(field).toMatchObject({ text: expect.stringMatching(/^data:A{200,}$/), bytes: 1_007 });
    expect(long).toMatchObject({ name: '' });
  });

  it.each(['{"model":"\\x"}', '{"mo\\del":1}', '{"model":', '["a"]', '"model":"x"', '{'])('survives %s', (text) => {
    expect(() => fieldsOf(text)).not.toThrow();
  });

  it('stops at more fields than any honest body has, and says so', () => {
    expect(walkFields(Buffer.from('{"a":1}'), () => undefined)).toBe(true);
    let visits = 0;
    expect(walkFields(Buffer.from(`{${'"a":1,'.repeat(300_000)}"b":1}`), () => void (visits += 1))).toBe(false);
    expect(visits).toBeLessThanOrEqual(250_000);
  });
});
