import { isAllowedHost } from '../upstream/allowed-hosts.js';
import type { SecretReference } from './secret-reference.entity.js';

/** Where the value of a mapped field is sent. */
export interface SecretDestination {
  /** Of a virtual key; undefined for an MCP server. */
  readonly provider: string | undefined;
  /** undefined where the address is only known when it is used. */
  readonly url: URL | undefined;
  /** Whether the provider itself has chosen the address: not the caller that made the virtual key. */
  readonly isOwnAddress: boolean;
}

type Allowed = Pick<SecretReference, 'allowedHosts' | 'allowedProviders'>;

/**
 * The reason why a secret may not be sent to a destination, as the rest of a sentence about the reference. undefined: it may.
 * An allowed provider is reached at its own addresses, or at hosts of `allowed_hosts`: a caller chooses any `base_url`.
 */
export function whyNotSentTo(
  { allowedHosts, allowedProviders }: Allowed,
  { provider, url, isOwnAddress }: SecretDestination,
): string | undefined {
  if (allowedProviders !== null) {
    if (provider === undefined) return 'names a secret that is only for virtual keys (allowed_providers)';
    if (!allowedProviders.includes(provider)) return `names a secret that is not for ${provider} (allowed_providers)`;
    if (!isOwnAddress && allowedHosts === null) {
      return `names a secret that is only for the own address of ${provider}: a base_url must be in allowed_hosts`;
    }
  }
  if (allowedHosts === null || url === undefined || isAllowedHost(url, allowedHosts)) return undefined;
  return `names a secret that is not for ${url.host} (allowed_hosts)`;
}

/** An address of a configuration. undefined for a text that is not a URL, which other rules refuse. */
export function givenAddress(text: unknown): URL | undefined {
  return typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
}
