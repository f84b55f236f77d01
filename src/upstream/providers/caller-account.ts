import type { IncomingHttpHeaders } from 'node:http';
import { VISIBLE_ASCII } from '../../common/constants.js';
import { invalidField } from '../../common/errors/gateway.error.js';

export const CALLER_ACCOUNT = ['ignore', 'pass'] as const;

export type CallerAccount = (typeof CALLER_ACCOUNT)[number];

const NAMES = ['OpenAI-Organization', 'OpenAI-Project'] as const;
const MAX_LENGTH = 255;
const NONE: Readonly<Record<string, string>> = {};

/**
 * The OpenAI organisation and project that a caller names, if the virtual key passes them on. The key's own take
 * precedence.
 * @throws GatewayError `validation_failed`
 */
export function callerAccount(
  { caller_account }: { readonly caller_account?: CallerAccount | undefined },
  headers: IncomingHttpHeaders,
): Readonly<Record<string, string>> {
  if (caller_account !== 'pass') return NONE;
  const passed: Record<string, string> = {};
  for (const name of NAMES) {
    const value = headers[name.toLowerCase()];
    if (value === undefined || value === '') continue;
    if (typeof value !== 'string' || value.length > MAX_LENGTH || !VISIBLE_ASCII.test(value))
      throw invalidField(name, `must be 1 to ${MAX_LENGTH} visible ASCII characters`);
    passed[name.toLowerCase()] = value;
  }
  return passed;
}
