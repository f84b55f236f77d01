import { describe, expect, it } from '@jest/globals';
import { validateSync } from 'class-validator';
import { IsMetadata } from './is-metadata.decorator.js';

class Holder {
  @IsMetadata()
  readonly metadata: unknown;
}

function isTaken(metadata: unknown): boolean {
  return validateSync(Object.assign(new Holder(), { metadata })).length === 0;
}

function withKeys(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, 'value']));
}

describe('IsMetadata', () => {
  it.each([
    {},
    { team: 'search', _user: 'ünïcode 検索 😀' },
    { empty: '' },
    withKeys(32),
    { ['k'.repeat(128)]: 'v'.repeat(128) },
  ])('accepts the metadata %j', (metadata) => expect(isTaken(metadata)).toBe(true));

  it.each([
    ['no object', 'team=search'],
    ['null', null],
    ['nothing', undefined],
    ['an array', ['search']],
    ['a number', { team: 1 }],
    ['a nested object', { team: { name: 'search' } }],
    ['null as a value', { team: null }],
    ['33 keys', withKeys(33)],
    ['a value of 129 characters', { team: 'v'.repeat(129) }],
    ['a key of 129 characters', { ['k'.repeat(129)]: '' }],
    ['a NUL character', { team: 'a\0b' }],
    ['half of a surrogate pair', { team: 'a\ud800' }],
    ['a NUL character in a key', { 'a\0b': '' }],
  ])('refuses metadata with %s', (_what, metadata) => expect(isTaken(metadata)).toBe(false));
});
