import { expect, it } from '@jest/globals';
import { WeakMemo } from './weak-memo.js';

it('WeakMemo creates a value once per object and key', () => {
  const memo = new WeakMemo<object, string, object>();
  const [one, other] = [{}, {}];
  const made = memo.of(one, 'a', () => ({}));
  expect(memo.of(one, 'a', () => ({}))).toBe(made);
  expect(memo.of(one, 'b', () => ({}))).not.toBe(made);
  expect(memo.of(other, 'a', () => ({}))).not.toBe(made);
});

it('WeakMemo does not keep a failure', () => {
  const memo = new WeakMemo<object, string, string>();
  const source = {};
  const fail = (): string => {
    throw new Error('not yet');
  };
  expect(() => memo.of(source, 'a', fail)).toThrow('not yet');
  expect(memo.of(source, 'a', () => 'made')).toBe('made');
});
