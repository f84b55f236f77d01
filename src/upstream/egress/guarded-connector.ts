import { type ConnectionOptions, createSecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import type { EgressPolicy } from './egress-policy.js';
import { openTunnel } from './proxy-tunnel.js';

export interface GuardedConnectorOptions {
  /** Milliseconds for DNS, TCP and TLS together. undici checks the limit about twice a second. */
  readonly connectTimeoutMs: number;
  /** Certificates to trust instead of the built-in ones. */
  readonly ca?: ConnectionOptions['ca'];
}

/** An undici connector that opens no socket to a target that the policy refuses. Usable for Pool, Agent and Client. */
export function guardedConnector(policy: EgressPolicy, options: GuardedConnectorOptions): buildConnector.connector {
  // A lookup function does not receive the port, on which an allow-list entry may depend, so each port has a connector.
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
      // net.connect does no lookup for a literal address, so checking only lookups would let it through.
      policy.checkTarget({ protocol: target.protocol, hostname: target.hostname, port });
    } catch (error) {
      // Asynchronously, like the failure of a real connection.
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

/** Trusts only these certificates, not the known authorities or those of EGRESS_CA_FILE. */
function trustOnly(ca: NonNullable<GuardedConnectorOptions['ca']>) {
  return { secureContext: createSecureContext({ ca }) };
}
