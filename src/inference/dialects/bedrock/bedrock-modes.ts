import { isObject, type JsonObject } from '../../../common/json/read.js';
import { PRICE_MODES, type PriceMode } from '../../../usage/prices/price.types.js';

/** The members of a request that choose the service tier. */
export const BEDROCK_MODE_MEMBERS = ['serviceTier', 'performanceConfig'] as const;

/** `reserved` is prepaid capacity. Source: the API reference of Converse, read 2026-11-28. */
const MODES: ReadonlyMap<unknown, PriceMode> = new Map<string, PriceMode>([
  ['default', 'standard'],
  ['reserved', 'standard'],
  ['flex', 'flex'],
  ['priority', 'priority'],
]);

/** The modes in which a call may be served, as `requestedModes` of the other dialects. */
export function bedrockModes({ serviceTier, performanceConfig }: JsonObject): readonly PriceMode[] {
  const tier = isObject(serviceTier) ? serviceTier['type'] : undefined;
  const mode = tier === undefined || tier === null ? 'standard' : MODES.get(tier);
  if (mode === undefined) return PRICE_MODES;
  const byTier: readonly PriceMode[] = mode === 'standard' ? [mode] : [mode, 'standard'];
  return isOptimized(performanceConfig) ? ['fast', ...byTier] : byTier;
}

/** The mode in which an answer was served; undefined when it names none. */
export function servedModeOf({ serviceTier, performanceConfig }: JsonObject): PriceMode | undefined {
  if (isOptimized(performanceConfig)) return 'fast';
  return isObject(serviceTier) ? MODES.get(serviceTier['type']) : undefined;
}

function isOptimized(performanceConfig: unknown): boolean {
  return isObject(performanceConfig) && performanceConfig['latency'] === 'optimized';
}
