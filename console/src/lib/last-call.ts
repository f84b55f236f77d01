import type { McpServer } from '../api/types.gen';

export type LastCallTone = 'good' | 'warn' | 'bad' | 'plain';

interface Words {
  readonly tone: LastCallTone;
  /** Before the time. */
  readonly verb: string;
  readonly reason?: string;
}

/** Status of a call whose client went away. */
const CLIENT_LEFT = 499;

/** Why a server gave no usable answer, by the code of the gateway's error. */
const REASONS: Readonly<Record<string, string>> = {
  provider_failed: 'cannot be reached',
  provider_timeout: 'no answer in time',
  provider_invalid_response: 'its answer cannot be read',
  provider_busy: 'too many calls are waiting',
  secret_unavailable: 'its secret cannot be read',
  identity_provider_unavailable: 'the identity provider cannot be reached',
  identity_forwarding_failed: 'it cannot be told who the user is',
};

export function reasonInWords(code: string): string {
  return REASONS[code] ?? code;
}

export function lastCallInWords({ outcome, status, error_code: code }: NonNullable<McpServer['last_call']>): Words {
  if (status === CLIENT_LEFT) return { tone: 'plain', verb: 'left by a client' };
  if (outcome === 'unknown') return { tone: 'plain', verb: 'called', reason: 'its answer was not seen' };
  if (outcome === 'rpc_error') return { tone: status >= 500 ? 'bad' : 'warn', verb: 'answered with an error' };
  if (outcome !== 'gateway_error') return { tone: 'good', verb: 'answered' };
  // The answer had begun.
  if (status < 400)
    return {
      tone: 'bad',
      verb: 'broke off',
      ...(code !== null && code !== 'provider_failed' && { reason: reasonInWords(code) }),
    };
  if (status < 500) return { tone: 'plain', verb: 'a call was refused', ...(code !== null && { reason: code }) };
  return { tone: 'bad', verb: 'failed', ...(code !== null && { reason: reasonInWords(code) }) };
}
