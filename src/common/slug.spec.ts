import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../test/support/any-character.js';
import { SLUG_PATTERN, slugFromName, withSuffix } from './slug.js';

describe('slugFromName', () => {
  it.each([
    ['Cohere (EU)', 'cohere-eu'],
    ['  Search   team  ', 'search-team'],
    ['Café Zürich', 'cafe-zurich'],
    ['snake_case stays', 'snake_case-stays'],
    ['v2.5', 'v2-5'],
    ['ﬁne ligature', 'fine-ligature'],
  ])('makes %j into %s', (name, slug) => expect(slugFromName(name)).toBe(slug));

  it.each(['', '検索', '!!!', '---'])('creates a random slug for %j, which has no usable letters or digits', (name) => {
    expect(slugFromName(name)).toMatch(/^[0-9a-f]{6}$/);
    expect(slugFromName(name)).not.toBe(slugFromName(name));
  });

  it('adds a suffix to a name in the form of an id', () => {
    const name = '0198F0C4-1c1b-7d5e-9a53-0242AC120002';
    expect(slugFromName(name)).toMatch(/^0198f0c4-1c1b-7d5e-9a53-0242ac120002-[0-9a-f]{6}$/);
  });

  it('makes a valid slug with room for a suffix from any name', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 400 }), (name) => {
        const slug = slugFromName(name);
        expect(slug).toMatch(SLUG_PATTERN);
        expect(withSuffix(slug)).toMatch(SLUG_PATTERN);
        expect(withSuffix(slug).length).toBeLessThanOrEqual(255);
      }),
    );
  });
});

describe('withSuffix', () => {
  it('appends another suffix to the slug each time', () => {
    expect(withSuffix('cohere')).toMatch(/^cohere-[0-9a-f]{6}$/);
    expect(withSuffix('cohere')).not.toBe(withSuffix('cohere'));
  });
});

describe('SLUG_PATTERN', () => {
  it.each(['a', 'A-b_9', '-', '_'])('accepts the slug %j', (slug) => expect(slug).toMatch(SLUG_PATTERN));
  it.each(['', 'a b', 'a/b', 'ä', 'a\n', '\0', 'a.b'])('refuses the slug %j', (slug) =>
    expect(slug).not.toMatch(SLUG_PATTERN),
  );
});
