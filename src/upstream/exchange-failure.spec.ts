import { describe, expect, it } from '@jest/globals';
import { errors } from 'undici';
import { EgressRefusedError } from './egress/egress-refused.error.js';
import { SlowLookupError } from './egress/slow-lookup.error.js';
import { toExchangeError } from './exchange-failure.js';
import { UpstreamFailure } from './upstream.types.js';

describe('toExchangeError', () => {
  it.each([
    ['unsent', 'connect'],
    ['sent', 'broken'],
    ['answering', 'incomplete'],
  ] as const)('maps an error while %s to %s', (stage, kind) => {
    const cause = new errors.SocketError('other side closed');
    expect(toExchangeError(cause, stage, 'api.example.com')).toMatchObject({ kind, cause });
  });

  it("names host and code, and not the error's own text", () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:443'), { code: 'ECONNREFUSED' });
    expect(toExchangeError(cause, 'unsent', 'api.example.com')).toHaveProperty(
      'message',
      'no connection to api.example.com (ECONNREFUSED)',
    );
  });

  it('recognises a refusal of the egress policy at any stage', () => {
    const refusal = new EgressRefusedError('address', 'api.example.com');
    expect(toExchangeError(refusal, 'unsent', 'api.example.com')).toMatchObject({ kind: 'refused_by_egress' });
  });

  it('reports a name look-up that takes too long as a failed connection, and names the host', () => {
    const cause = new SlowLookupError('takes too long', 'api.example.com');
    expect(toExchangeError(cause, 'unsent', 'api.example.com:8443')).toMatchObject({
      kind: 'connect',
      message: 'the name look-up of api.example.com takes too long',
      cause,
    });
  });

  it('reports endless headers as too large', () => {
    const error = new errors.HeadersOverflowError();
    expect(toExchangeError(error, 'sent', 'api.example.com')).toMatchObject({ kind: 'too_large' });
  });

  it.each(['bad response', 'bad upgrade'])('recognises an unrequested interim answer: %s', (message) => {
    const error = new errors.SocketError(message);
    expect(toExchangeError(error, 'sent', 'api.example.com')).toMatchObject({ kind: 'interim', cause: error });
  });

  it.each([
    new errors.InvalidArgumentError('invalid header'),
    new errors.NotSupportedError('expect header'),
    new UpstreamFailure('timeout', 'late'),
  ])('returns it unchanged: %p', (error) => expect(toExchangeError(error, 'unsent', 'api.example.com')).toBe(error));
});
