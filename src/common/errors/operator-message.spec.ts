import { describe, expect, it } from '@jest/globals';
import { messageForOperator } from './operator-message.js';

describe('operatorMessage', () => {
  it('is the message of an error, without its stack', () => {
    expect(messageForOperator(new TypeError('no such folder'))).toBe('no such folder');
  });

  it('tells of every address of a host that could not be reached', () => {
    const refused = ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED 127.0.0.1:5432'];
    expect(messageForOperator(new AggregateError(refused.map((text) => new Error(text))))).toBe(refused.join('; '));
  });

  it('prefers a message of its own to those of its parts', () => {
    expect(messageForOperator(new AggregateError([new Error('part')], 'whole'))).toBe('whole');
  });

  it('is what was thrown when that is no error', () => expect(messageForOperator('stop')).toBe('stop'));
});
