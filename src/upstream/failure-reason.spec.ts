import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway.error.js';
import { EgressRefusedError } from './egress/egress-refused.error.js';
import { SlowLookupError } from './egress/slow-lookup.error.js';
import { toExchangeError } from './exchange-failure.js';
import { failureReason } from './failure-reason.js';
import { failureToError } from './provider-error.js';
import { UpstreamFailure } from './upstream.types.js';

const withCode = (code: string) => Object.assign(new Error('what happened'), { code });

/** The error that a caller gets when its connection fails in this way. */
function connectingFailed(cause: Error): unknown {
  const failure = toExchangeError(cause, 'unsent', 'host.example');
  return failure instanceof UpstreamFailure ? failureToError(failure) : failure;
}

describe('failureReason', () => {
  it.each([
    [withCode('ENOTFOUND'), 'dns'],
    [withCode('EAI_AGAIN'), 'dns'],
    [new SlowLookupError('takes too long', 'host.example'), 'dns'],
    [withCode('ECONNREFUSED'), 'connect'],
    [withCode('UND_ERR_CONNECT_TIMEOUT'), 'connect'],
    [new AggregateError([withCode('EHOSTUNREACH')], 'all addresses failed'), 'connect'],
    [withCode('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls'],
    [withCode('CERT_HAS_EXPIRED'), 'tls'],
    [withCode('ERR_TLS_CERT_ALTNAME_INVALID'), 'tls'],
    [withCode('ERR_SSL_WRONG_VERSION_NUMBER'), 'tls'],
    [withCode('EPROTO'), 'tls'],
    [new EgressRefusedError('address', 'host.example'), 'egress_refused'],
  ])('says where the connection failed for %p: %s', (cause, reason) => {
    expect(failureReason(connectingFailed(cause))).toBe(reason);
    // Libraries wrap the error of the connection in their own.
    const wrapped = new TypeError('fetch failed', { cause });
    expect(failureReason(new GatewayError('provider_failed', { cause: wrapped }))).toBe(reason);
  });

  it.each([
    ['timeout', 'timeout'],
    ['busy', 'busy'],
    ['broken', 'connection_lost'],
    ['incomplete', 'connection_lost'],
    ['redirect', 'redirect'],
    ['too_large', 'too_large'],
    ['interim', 'invalid_response'],
  ] as const)('says what became of a call that was sent: %s', (kind, reason) => {
    expect(failureReason(failureToError(new UpstreamFailure(kind, 'what happened')))).toBe(reason);
  });

  it.each([
    [new TypeError('fetch failed', { cause: new Error('unexpected redirect') }), 'redirect'],
    [new TypeError('terminated', { cause: withCode('UND_ERR_SOCKET') }), 'connection_lost'],
    [new TypeError('fetch failed', { cause: withCode('ECONNRESET') }), 'connection_lost'],
    [new Error('a reason that is not known'), undefined],
    [undefined, undefined],
  ])('says what became of the call of a library: %p', (cause, reason) => {
    expect(failureReason(new GatewayError('provider_failed', { cause }))).toBe(reason);
  });

  it.each([401, 403, 500])('says the status of the answer: %i', (status) => {
    expect(failureReason(new GatewayError('provider_failed', { provider: { status } }))).toBe(`http_${status}`);
  });

  it.each([
    new GatewayError('secret_unavailable', { reason: 'config.base_url is missing' }),
    new GatewayError('validation_failed'),
    new UpstreamFailure('caller_gone', 'left'),
    new Error('a defect'),
    'text',
    undefined,
  ])('says nothing where no call was made: %p', (error) => expect(failureReason(error)).toBeUndefined());

  it('ends where errors are causes of each other', () => {
    const [first, second] = [new Error('a'), new Error('b')];
    first.cause = second;
    second.cause = first;
    expect(failureReason(first)).toBeUndefined();
  });
});
