// AWS endpoints by region and partition. Source: https://docs.aws.amazon.com/general/latest/gr/rande.html, read 2026-11-21.
import { GatewayError } from '../../common/errors/gateway.error.js';

/**
 * Matches `us-east-1`, `us-gov-west-1`, `eusc-de-east-1`, and future regions of that form. Dots are excluded: a region
 * becomes a label of a host name, and must not be able to become the host.
 */
export const AWS_REGION = /^(?=.{1,32}$)[a-z]{2,}(?:-[a-z]+)*-\d$/;

/** Domain suffixes by the region's prefix. The isolated partitions need a `base_url`. */
const SUFFIXES: readonly (readonly [prefix: string, suffix: string])[] = [
  ['cn-', 'amazonaws.com.cn'],
  ['eusc-', 'amazonaws.eu'],
];

/** The regional endpoint of a service. Throws `secret_unavailable` for an invalid region. */
export function awsEndpoint(service: string, region: string): URL {
  assertRegion(region);
  const suffix = SUFFIXES.find(([prefix]) => region.startsWith(prefix))?.[1] ?? 'amazonaws.com';
  return new URL(`https://${service}.${region}.${suffix}`);
}

/** The endpoint of Bedrock's Mantle, which has its own suffix. Throws like `awsEndpoint`. */
export function bedrockMantleEndpoint(region: string): URL {
  assertRegion(region);
  return new URL(`https://bedrock-mantle.${region}.api.aws`);
}

/** Validates the region again, since a secret reference may have supplied it. */
function assertRegion(region: string): void {
  if (AWS_REGION.test(region)) return;
  throw new GatewayError('secret_unavailable', { reason: 'config.aws_region is not the name of a region' });
}
