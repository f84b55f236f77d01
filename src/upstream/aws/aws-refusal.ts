import { type UpstreamHead, firstHeader } from '../upstream.types.js';

// How AWS says that it does not take the credentials of a request, by name: the status is 400 or 403, as for much else.
// Source: https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html, read 2026-11-21.
/** Without the suffix `Exception`, which the same error has in one protocol and not in the other. */
export const REFUSED_CREDENTIALS: readonly string[] = [
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidClientTokenId',
  'InvalidSignature',
  'SignatureDoesNotMatch',
  'UnrecognizedClient',
];

/** Not so when AWS knows who asks, and denies it. The header may name a namespace or an address besides. */
export function areCredentialsRefused({ headers }: UpstreamHead): boolean {
  const name = firstHeader(headers, 'x-amzn-errortype')?.split(':', 1)[0]?.split('#').at(-1);
  return name !== undefined && REFUSED_CREDENTIALS.includes(name.replace(/Exception$/, ''));
}
