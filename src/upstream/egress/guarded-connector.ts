import type { ConnectionOptions } from 'node:tls';
import { buildConnector } from 'undici';
import type { EgressPolicy } from './egress-policy.js';

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

  const connectorFor = (port: number): buildConnector.connector => {
    const known = connectors.get(port);
    if (known) return known;
    const connector = buildConnector({
      timeout: options.connectTimeoutMs,
      lookup: policy.lookupFor(port),
      ...(options.ca === undefined ? {} : { ca: options.ca }),
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
    connectorFor(port)(target, callback);
  };
}
