import { errors } from 'undici';
import { assertNever } from '../common/assert-never.js';
import { isObject, stringOrUndefined } from '../common/json/read.js';
import { EgressRefusedError } from './egress/egress-refused.error.js';
import { SlowLookupError } from './egress/slow-lookup.error.js';
import { UpstreamFailure } from './upstream.types.js';

/** The stage of an exchange when it failed. */
export type ExchangeStage = 'unsent' | 'sent' | 'answering';

/**
 * Converts an error of undici, a socket or the egress policy to an UpstreamFailure. An error of an invalid request (a
 * line break in a header value, say) is a defect of the gateway, and is returned unchanged.
 */
export function toExchangeError(error: unknown, stage: ExchangeStage, host: string): unknown {
  if (error instanceof UpstreamFailure) return error;
  if (error instanceof EgressRefusedError)
    return new UpstreamFailure('refused_by_egress', error.message, { cause: error });
  if (error instanceof SlowLookupError) return new UpstreamFailure('connect', error.message, { cause: error });
  if (error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError) return error;
  if (error instanceof errors.RequestContentLengthMismatchError) return error;
  if (error instanceof errors.HeadersOverflowError) {
    return new UpstreamFailure('too_large', `${host} sent more header bytes than Node reads`, { cause: error });
  }
  if (isUnaskedInterim(error)) {
    return new UpstreamFailure('interim', `${host} sent an unrequested interim answer`, { cause: error });
  }
  const code = (isObject(error) && stringOrUndefined(error.code)) || 'no code';
  switch (stage) {
    case 'unsent':
      return new UpstreamFailure('connect', `no connection to ${host} (${code})`, { cause: error });
    case 'sent':
      return new UpstreamFailure('broken', `${host} broke the connection before it answered (${code})`, {
        cause: error,
      });
    case 'answering':
      return new UpstreamFailure('incomplete', `the answer of ${host} was cut off (${code})`, { cause: error });
    default:
      return assertNever(stage);
  }
}

/**
 * undici closes the connection on a 101 with an upgrade, and on a 100 that InterimFilter did not remove. Only its
 * message distinguishes them.
 */
function isUnaskedInterim(error: unknown): boolean {
  return error instanceof errors.SocketError && (error.message === 'bad response' || error.message === 'bad upgrade');
}
