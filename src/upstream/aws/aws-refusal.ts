import { type UpstreamHead, firstHeader } from '../upstream.types.js';

// The names of AWS's errors for refused credentials. The status is 400 or 403, as for many other errors. Source:
// https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html, read 2026-11-21.
/** Without the suffix `Exception`, which an error has in only one of the protocols. */
export const REFUSED_CREDENTIALS: readonly string[] = [
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidClientTokenId',
  'InvalidSignature',
  'SignatureDoesNotMatch',
  'UnrecognizedClient',
];

/**
 * Whether AWS refused the credentials. False when AWS authenticated the caller and denied access. The header may also
 * contain a namespace or an address.
 */
export function areCredentialsRefused({ headers }: UpstreamHead): boolean {
  const name = firstHeader(headers, 'x-amzn-errortype')?.split(':', 1)[0]?.split('#').at(-1);
  return name !== undefined && REFUSED_CREDENTIALS.includes(name.replace(/Exception$/, ''));
}
