import { ERROR_CODES } from '../common/errors/error-codes.js';
import { CLIENT_CLOSED_REQUEST } from '../common/http/client-connection.js';

export const LOGGED_OUTCOMES = [
  'ok',
  'tool_error',
  'rpc_error',
  'provider_error',
  'gateway_error',
  'cancelled',
  'unknown',
] as const;

/** How a call ended. The status does not say it: a tool that fails, and a stream that breaks off, have the status 200. */
export type LoggedOutcome = (typeof LOGGED_OUTCOMES)[number];

const OF_PROVIDERS: ReadonlySet<string> = new Set(
  Object.entries(ERROR_CODES).flatMap(([code, { source }]) => (source === 'provider' ? [code] : [])),
);

/** What was found out while the call went on comes before its status. */
export function loggedOutcomeOf(
  status: number,
  {
    outcome,
    error_code: code,
  }: { readonly outcome: LoggedOutcome | undefined; readonly error_code: string | undefined },
): LoggedOutcome {
  if (status === CLIENT_CLOSED_REQUEST) return 'cancelled';
  if (outcome !== undefined) return outcome;
  if (code !== undefined) return OF_PROVIDERS.has(code) ? 'provider_error' : 'gateway_error';
  return status >= 400 ? 'provider_error' : 'ok';
}
