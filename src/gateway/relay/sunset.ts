import { GatewayError } from '../../common/errors/gateway.error.js';
import type { ResourceProvider } from './operation.types.js';

/** Adds the retirement headers to a provider's 404 in a retired area. Other errors stay unchanged. */
export function withSunset(error: unknown, provider: ResourceProvider): unknown {
  if (!('sunset' in provider) || provider.sunset === undefined) return error;
  if (!(error instanceof GatewayError) || error.code !== 'provider_rejected' || error.status !== 404) return error;
  const { deprecation, sunset, link } = provider.sunset;
  return error.withHeaders({ deprecation, sunset, link: `<${link}>; rel="sunset"` });
}
