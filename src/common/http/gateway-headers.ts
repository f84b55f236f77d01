import type { IncomingHttpHeaders } from 'node:http';

/** Value of a gateway header. `x-portkey-*` is read too, so that people who move over keep their SDK; `x-gateway-*` wins. */
export function gatewayHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[`x-gateway-${name}`] ?? headers[`x-portkey-${name}`];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
