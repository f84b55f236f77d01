import type { IncomingHttpHeaders } from 'node:http';

/** Written out, since a name that is concatenated for each look-up is hashed each time. */
const GATEWAY_HEADERS = {
  'api-key': ['x-gateway-api-key', 'x-portkey-api-key'],
  'virtual-key': ['x-gateway-virtual-key', 'x-portkey-virtual-key'],
  strict: ['x-gateway-strict', 'x-portkey-strict'],
  'trace-id': ['x-gateway-trace-id', 'x-portkey-trace-id'],
  'span-id': ['x-gateway-span-id', 'x-portkey-span-id'],
  'parent-span-id': ['x-gateway-parent-span-id', 'x-portkey-parent-span-id'],
  'span-name': ['x-gateway-span-name', 'x-portkey-span-name'],
  metadata: ['x-gateway-metadata', 'x-portkey-metadata'],
  config: ['x-gateway-config', 'x-portkey-config'],
  session: ['x-gateway-session', 'x-portkey-session'],
} as const;

/** Headers that carry a gateway API key. */
export const KEY_HEADERS = GATEWAY_HEADERS['api-key'];

export type GatewayHeader = keyof typeof GATEWAY_HEADERS;

/**
 * Value of a gateway header. `x-portkey-*` is read too, so that migrating users can keep their SDK. `x-gateway-*` takes
 * precedence.
 */
export function gatewayHeader(headers: IncomingHttpHeaders, name: GatewayHeader): string | undefined {
  const [own, other] = GATEWAY_HEADERS[name];
  const value = headers[own] ?? headers[other];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
