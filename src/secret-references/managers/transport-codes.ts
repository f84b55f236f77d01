import type { UpstreamFailureKind } from '../../upstream/upstream.types.js';
import type { SecretErrorCode } from './secret-manager.types.js';

/** What it means for a secret that no usable answer came, whichever manager was asked. */
export const TRANSPORT_CODES: Readonly<Record<UpstreamFailureKind, SecretErrorCode>> = {
  refused_by_egress: 'refused_by_egress',
  connect: 'unreachable',
  broken: 'unreachable',
  // Somebody is there, but what came is not what a manager answers.
  incomplete: 'invalid_response',
  interim: 'invalid_response',
  redirect: 'invalid_response',
  timeout: 'timeout',
  too_large: 'too_large',
  // The caller of a manager is the gateway itself, which leaves when the time is over.
  caller_gone: 'timeout',
};
