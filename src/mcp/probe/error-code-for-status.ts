import type { ErrorCode } from '../../common/errors/error-codes.js';

/** What an answer's status says of a request that was not answered otherwise. */
export function errorCodeForStatus(status: number | undefined): ErrorCode {
  if (status === 401 || status === 403) return 'provider_credential_rejected';
  return status !== undefined && status >= 400 && status < 500 ? 'provider_rejected' : 'provider_failed';
}
