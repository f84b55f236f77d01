import { type ConnectionOptions, createSecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import type { EgressPolicy } from './egress-policy.js';
import { openTunnel } from './proxy-tunnel.js';

export interface GuardedConnectorOptions {
  /** Milliseconds for DNS, TCP and TLS together. undici checks it about twice a second. */
  readonly connectTimeoutMs: number;
  /** Certificates to trust instead of the built-in ones. */
  readonly ca?: ConnectionOptions['ca'];
}

/** An undici connector that opens no socket to a place that the policy refuses. For Pool, Agent and Client alike. */
export function guardedConnector(policy: EgressPolicy, options: GuardedConnectorOptions): buildConnector.connector {
  // A lookup function is not told the port, on which an allow-list entry may depend: hence one connector a port.
  const connectors = new Map<number, buildConnector.connector>();

  const { secureContext } = policy.route;
  const trust = { ...(secureContext && { secureContext }), ...(options.ca === undefined ? {} : trustOnly(options.ca)) };

  const connectorFor = (port: number): buildConnector.connector => {
    const known = connectors.get(port);
    if (known) return known;
    const connector = buildConnector({
      timeout: options.connectTimeoutMs,
      lookup: policy.lookupFor(port),
      ...trust,
    });
    connectors.set(port, connector);
    return connector;
  };

  return (target, callback) => {
    const port = Number(target.port) || (target.protocol === 'http:' ? 80 : 443);
    try {
      // net.connect does no lookup for a literal address, so that lookups alone would let such a host through.
      policy.checkTarget({ protocol: target.protocol, hostname: target.hostname, port });
    } catch (error) {
      // Later, as the failure of a true connection would come.
      queueMicrotask(() => callback(error instanceof Error ? error : new Error('egress check failed'), null));
      return;
    }
    const proxy = policy.route.proxyTo(target.hostname, port);
    if (proxy === undefined) return connectorFor(port)(target, callback);
    const way = { timeoutMs: options.connectTimeoutMs, secureContext };
    openTunnel(proxy, { hostname: target.hostname, port }, way, (...result) => {
      const [error, socket] = result;
      if (error !== null) return callback(error, null);
      if (target.protocol === 'http:') return callback(null, socket);
      connectorFor(port)({ ...target, httpSocket: socket }, callback);
    });
  };
}

/** In place of the authorities that are known, and of those of the setting. */
function trustOnly(ca: NonNullable<GuardedConnectorOptions['ca']>) {
  return { secureContext: createSecureContext({ ca }) };
}
