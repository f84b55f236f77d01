import { errorCodeOf } from '../common/errors/describe-error.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { EgressRefusedError } from './egress/egress-refused.error.js';
import { SlowLookupError } from './egress/slow-lookup.error.js';
import { UpstreamFailure, type UpstreamFailureKind } from './upstream.types.js';

/**
 * The stage at which a call failed, for the administrator who configured it. `http_401` and so on contain the status of
 * the answer.
 */
export type FailureReason =
  | 'dns'
  | 'connect'
  | 'tls'
  | 'egress_refused'
  | 'timeout'
  | 'busy'
  | 'connection_lost'
  | 'redirect'
  | 'too_large'
  | 'invalid_response'
  | `http_${number}`;

/** The most causes to follow, since a cycle of causes must not hang. */
const MAX_CAUSES = 8;

const DNS_CODES: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME']);
/** Error codes of OpenSSL and of Node's certificate checks. */
const TLS_CODE =
  /^(?:ERR_SSL_|ERR_TLS_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO$|HOSTNAME_MISMATCH$|INVALID_CA$|PATH_LENGTH_EXCEEDED$)/;

/** Error codes of sockets and of undici. */
const CONNECT_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** The message with which `fetch` reports a forbidden redirect. The error has no code. */
const FETCH_REDIRECT = 'unexpected redirect';

const REASONS: Readonly<Record<Exclude<UpstreamFailureKind, 'caller_gone'>, FailureReason>> = {
  refused_by_egress: 'egress_refused',
  connect: 'connect',
  broken: 'connection_lost',
  incomplete: 'connection_lost',
  interim: 'invalid_response',
  timeout: 'timeout',
  busy: 'busy',
  too_large: 'too_large',
  redirect: 'redirect',
};

/** undefined when the call was not made, or the stage is unknown. */
export function failureReason(error: unknown): FailureReason | undefined {
  if (error instanceof GatewayError && error.provider !== undefined) return `http_${error.provider.status}`;
  const causes = causesOf(error);
  if (causes.some((cause) => cause instanceof EgressRefusedError)) return 'egress_refused';
  if (causes.some((cause) => cause instanceof SlowLookupError)) return 'dns';
  // The code of our own errors names the result of the call, not its cause.
  const foreign = causes.filter((cause) => !(cause instanceof GatewayError));
  const codes = foreign.map(errorCodeOf).filter((code) => code !== undefined);
  if (codes.some((code) => DNS_CODES.has(code))) return 'dns';
  if (codes.some((code) => TLS_CODE.test(code))) return 'tls';
  const failure = causes.find((cause) => cause instanceof UpstreamFailure);
  if (failure !== undefined) return failure.kind === 'caller_gone' ? undefined : REASONS[failure.kind];
  if (!(error instanceof GatewayError)) return undefined;
  switch (error.code) {
    case 'provider_timeout':
      return 'timeout';
    case 'provider_failed':
      if (foreign.some(({ message }) => message === FETCH_REDIRECT)) return 'redirect';
      if (codes.some((code) => CONNECT_CODES.has(code))) return 'connect';
      return codes.length > 0 ? 'connection_lost' : undefined;
    case 'provider_invalid_response':
      return 'invalid_response';
    default:
      return undefined;
  }
}

function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  let next = error;
  while (next instanceof Error && causes.length < MAX_CAUSES) {
    causes.push(next);
    next = next.cause ?? (next instanceof AggregateError ? next.errors[0] : undefined);
  }
  return causes;
}
