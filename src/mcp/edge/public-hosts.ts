import { LOCAL_HOSTS } from '../../common/constants.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { headerValues, type RawHeader } from '../../identity/headers/raw-headers.js';

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** The names of the gateway, as `Host` and `Origin` spell them. */
export interface PublicHosts {
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
}

/**
 * From `MCP_PUBLIC_URL`. Without it, the local names with the port that the gateway listens on: enough to try it out, and
 * safe from pages that rebind a name of theirs to this machine.
 */
export function publicHosts(publicUrls: readonly string[], port: number): PublicHosts {
  const urls = publicUrls.length > 0 ? publicUrls : LOCAL_HOSTS.map((host) => `http://${host}:${port}`);
  const hosts = new Set<string>();
  const origins = new Set<string>();
  for (const url of urls.map((text) => new URL(text))) {
    hosts.add(url.host);
    origins.add(url.origin);
    // Some clients send the port even when it is the scheme's default.
    if (url.port === '') hosts.add(`${url.hostname}:${DEFAULT_PORTS[url.protocol] ?? ''}`);
  }
  return { hosts, origins };
}

/**
 * Protects against DNS rebinding in place of the server, which sees the gateway's own `Host`. `X-Forwarded-Host` is ignored,
 * since clients can send it.
 * @throws GatewayError `permission_denied`
 */
export function checkHost(headers: readonly RawHeader[], { hosts }: PublicHosts): void {
  const [host, ...others] = headerValues(headers, 'host');
  if (host !== undefined && others.length === 0 && hosts.has(host.toLowerCase())) return;
  throw new GatewayError('permission_denied', {
    message:
      'The gateway does not serve MCP under this host name and port: set MCP_PUBLIC_URL to the origin that clients type.',
    reason: 'host',
  });
}
