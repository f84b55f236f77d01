import { describe, expect, it } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { describeDefect, messageForOperator } from './describe-error.js';

it('describeDefect shows the code of PostgreSQL and the stack', () => {
  const cause = Object.assign(new Error('relation "lost" does not exist'), { code: '42P01' });
  expect(describeDefect(new QueryFailedError('SELECT', [], cause))).toMatchObject({
    name: 'QueryFailedError',
    code: '42P01',
    stack: expect.arrayContaining([expect.stringContaining('describe-error.spec.ts')]),
  });
});

it('describeDefect hides text that a caller may have sent', () => {
  const cause = Object.assign(new Error('duplicate of sent-1'), { code: '23505', detail: 'Key (name)=(sent-2)' });
  const shown = JSON.stringify(describeDefect(new QueryFailedError('INSERT sent-3', ['sent-4'], cause)));
  expect(shown).not.toMatch(/sent-\d/);
});

it.each([
  [new TypeError('x'), 'TypeError'],
  ['text', 'string'],
])('describeDefect describes values without a code: %p', (cause, name) => {
  const shown: object = JSON.parse(JSON.stringify(describeDefect(cause)));
  expect(shown).toMatchObject({ name });
  expect(shown).not.toHaveProperty('code');
});

describe('messageForOperator', () => {
  it('returns the message of an error without its stack', () => {
    expect(messageForOperator(new TypeError('no such folder'))).toBe('no such folder');
  });

  it('lists every address of an unreachable host', () => {
    const refused = ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED 127.0.0.1:5432'];
    expect(messageForOperator(new AggregateError(refused.map((text) => new Error(text))))).toBe(refused.join('; '));
  });

  it('prefers the own message of an aggregate error', () => {
    expect(messageForOperator(new AggregateError([new Error('part')], 'whole'))).toBe('whole');
  });

  it('returns a thrown value that is not an error as text', () => expect(messageForOperator('stop')).toBe('stop'));
});
