import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway.error.js';
import { leftOut, openedOr } from './opened.js';

const FAILURE = new GatewayError('secret_unavailable', { reason: 'no master key with id k1' });

function failWith(error: Error): () => never {
  return () => {
    throw error;
  };
}

describe('openedOr', () => {
  it('gives what opens', () => {
    expect(openedOr(() => 'secret', 'instead')).toEqual({ value: 'secret', failure: undefined });
  });

  it('goes on with something else where nothing opens, and says why', () => {
    expect(openedOr(failWith(FAILURE), 'instead')).toEqual({ value: 'instead', failure: FAILURE });
  });

  it.each([new TypeError('a defect'), new GatewayError('internal_error')])('hides nothing else: %s', (error) => {
    expect(() => openedOr(failWith(error), 'instead')).toThrow(error);
  });
});

describe('leftOut', () => {
  it('tells the caller what to send, and keeps the reason for the log', () => {
    const error = leftOut(FAILURE, 'Send again: key.');
    expect(error).toMatchObject({ code: 'secret_unavailable', reason: 'no master key with id k1' });
    expect(error.message).toBe(`${FAILURE.message} Send again: key.`);
  });
});
