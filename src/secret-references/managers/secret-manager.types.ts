import type { UpstreamFailureKind } from '../../upstream/upstream.types.js';

/** The interface's names. The schemes in `../auth-config/` have the providers' own as well. */
export type ManagerType = 'cloudA_sm' | 'cloudB_kv' | 'vendorC_vault';

/** What went wrong with a secret. A bounded set: shown as `last_error` and as a label of metrics. */
export const SECRET_ERROR_CODES = [
  'not_found',
  'deleted',
  'disabled',
  'access_denied',
  'authentication_failed',
  'decryption_failed',
  'throttled',
  'sealed',
  'unreachable',
  'timeout',
  'refused_by_egress',
  'identity_not_allowed',
  'invalid_request',
  'invalid_response',
  'too_large',
  'key_missing',
  'not_json',
  'not_text',
  'workspace_not_allowed',
  'destination_not_allowed',
  'manager_failed',
] as const;
export type SecretErrorCode = (typeof SECRET_ERROR_CODES)[number];

/** A secret could not be read. `code` may be shown; `detail` is for the log alone, and holds no secret. */
export class SecretError extends Error {
  constructor(
    readonly code: SecretErrorCode,
    /** The manager's own words, scrubbed and bounded, or ours. */
    readonly detail: string,
    options?: ErrorOptions,
  ) {
    super(`${code}: ${detail}`, options);
    this.name = 'SecretError';
  }
}

/** A secret as its manager keeps it: one text, or named values (Vault). */
export type SecretDocument =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'fields'; readonly fields: Readonly<Record<string, unknown>> };

/** The credentials for a manager, all fields under the interface's names. Opened: lives in memory only. */
export type AuthConfig = Readonly<Record<string, string>>;

/** Which secret to fetch, and as whom. */
export interface SecretRequest {
  readonly organisationId: string;
  readonly authConfig: AuthConfig;
  readonly path: string;
  /** undefined: the current one. */
  readonly version: string | undefined;
}

/** One secret manager: the strategy behind a `manager_type`. */
export interface SecretManager {
  readonly type: ManagerType;
  /**
   * Fetches the whole secret, within a bounded time and size.
   * @throws SecretError
   */
  fetch(request: SecretRequest): Promise<SecretDocument>;
  /** Ends what runs in the background (renewal of tokens). */
  close(): Promise<void>;
}

/** The code of a secret for each failure of the transport, the same for every manager. */
export const TRANSPORT_CODES: Readonly<Record<UpstreamFailureKind, SecretErrorCode>> = {
  refused_by_egress: 'refused_by_egress',
  connect: 'unreachable',
  broken: 'unreachable',
  // A server is there, but its answer is not that of a manager.
  incomplete: 'invalid_response',
  interim: 'invalid_response',
  busy: 'unreachable',
  redirect: 'invalid_response',
  timeout: 'timeout',
  too_large: 'too_large',
  // The caller of a manager is the gateway itself, which leaves when the time is over.
  caller_gone: 'timeout',
};
