import { GatewayError } from '../../common/errors/gateway.error.js';
import { headerValues, type RawHeader } from '../../identity/headers/raw-headers.js';

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'] as const;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** Under which names the gateway may be addressed, as `Host` and `Origin` spell them. */
export interface PublicHosts {
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
}

/**
 * From `MCP_PUBLIC_URL` (several, where there are several). Without any, the local names with the port that the gateway
 * listens on: enough to try it out, and safe from pages that rebind a name of theirs to this machine.
 */
export function publicHosts(publicUrls: readonly string[], port: number): PublicHosts {
  const urls = publicUrls.length > 0 ? publicUrls : LOCAL_HOSTS.map((host) => `http://${host}:${port}`);
  const hosts = new Set<string>();
  const origins = new Set<string>();
  for (const url of urls.map((text) => new URL(text))) {
    hosts.add(url.host);
    origins.add(url.origin);
    // Some clients write the port down although it is the scheme's own.
    if (url.port === '') hosts.add(`${url.hostname}:${DEFAULT_PORTS[url.protocol] ?? ''}`);
  }
  return { hosts, origins };
}

/**
 * The server behind the gateway sees the gateway's own `Host`, so that its protection against DNS rebinding is off: this
 * one stands in for it. `X-Forwarded-Host` counts for nothing, since clients can send it.
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
