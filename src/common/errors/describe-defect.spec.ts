import { expect, it } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { describeDefect } from './describe-defect.js';

it('shows the code of PostgreSQL, and where it happened', () => {
  const cause = Object.assign(new Error('relation "lost" does not exist'), { code: '42P01' });
  expect(describeDefect(new QueryFailedError('SELECT', [], cause))).toMatchObject({
    name: 'QueryFailedError',
    code: '42P01',
    stack: expect.arrayContaining([expect.stringContaining('describe-defect.spec.ts')]),
  });
});

it('keeps to itself what a caller may have sent', () => {
  const cause = Object.assign(new Error('duplicate of sent-1'), { code: '23505', detail: 'Key (name)=(sent-2)' });
  const shown = JSON.stringify(describeDefect(new QueryFailedError('INSERT sent-3', ['sent-4'], cause)));
  expect(shown).not.toMatch(/sent-\d/);
});

it.each([
  [new TypeError('x'), 'TypeError'],
  ['text', 'string'],
])('describes what has no code: %p', (cause, name) => {
  const shown: object = JSON.parse(JSON.stringify(describeDefect(cause)));
  expect(shown).toMatchObject({ name });
  expect(shown).not.toHaveProperty('code');
});
