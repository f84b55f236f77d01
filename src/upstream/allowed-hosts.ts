import { GatewayError } from '../common/errors/gateway.error.js';

/** A host name, `*.` and a domain, or an address, with a port if it is not the default one. */
export const HOST_PATTERN = /^(?:(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[1-9]\d{0,4})?$/i;

const PORT = /:(\d+)$/;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** Whether a pattern matches the host and port of the URL. `*.` matches one label or more. */
export function isAllowedHost(url: URL, patterns: readonly string[]): boolean {
  const ownPort = DEFAULT_PORTS[url.protocol] ?? '';
  const port = url.port === '' ? ownPort : url.port;
  return patterns.some((pattern) => {
    const host = pattern.toLowerCase().replace(PORT, '');
    if ((PORT.exec(pattern)?.[1] ?? ownPort) !== port) return false;
    return host.startsWith('*.') ? url.hostname.endsWith(host.slice(1)) : url.hostname === host;
  });
}

/**
 * Checks the host of a call against the allowed hosts of its credential.
 * @param allowed lists of patterns, each of which must allow the host
 * @throws GatewayError `secret_unavailable`
 */
export function assertAllowedHosts(url: URL, allowed: readonly (readonly string[])[]): void {
  if (allowed.every((patterns) => isAllowedHost(url, patterns))) return;
  const reason = `destination_not_allowed: allowed_hosts of a secret reference does not include ${url.host}`;
  throw new GatewayError('secret_unavailable', { reason });
}
