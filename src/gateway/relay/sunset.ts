import { GatewayError } from '../../common/errors/gateway.error.js';
import type { ResourceProvider } from './operation.types.js';

/** A provider's 404 in an area that it has retired tells so in headers; every other error stays as it is. */
export function withSunset(error: unknown, provider: ResourceProvider): unknown {
  if (!('sunset' in provider) || provider.sunset === undefined) return error;
  if (!(error instanceof GatewayError) || error.code !== 'provider_rejected' || error.status !== 404) return error;
  const { deprecation, sunset, link } = provider.sunset;
  return error.withHeaders({ deprecation, sunset, link: `<${link}>; rel="sunset"` });
}
