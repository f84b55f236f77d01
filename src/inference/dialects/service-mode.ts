import { isObject, type JsonObject } from '../../common/json/read.js';
import { PRICE_MODES, type PriceMode } from '../../usage/prices/price.types.js';

/** The members of a request that choose the service tier, and so the prices: OpenAI's and Anthropic's. */
export const MODE_MEMBERS = ['service_tier', 'speed'] as const;

/** Price modes by the names of the APIs. `scale` is prepaid capacity. */
const MODES: ReadonlyMap<unknown, PriceMode> = new Map<string, PriceMode>([
  ...PRICE_MODES.map((mode) => [mode, mode] as const),
  ['default', 'standard'],
  ['standard_only', 'standard'],
  ['scale', 'standard'],
]);
/** The modes that the provider may choose when the request leaves the tier to the settings of the account. */
const ANY_TIER: readonly PriceMode[] = ['standard', 'flex', 'priority'];

/**
 * The modes in which a call may be served: the requested one, and standard, to which a provider may fall back. The
 * first one applies when the answer names no mode.
 * Source: https://platform.openai.com/docs/api-reference/chat/create and
 * https://docs.anthropic.com/en/api/service-tiers, read 2026-11-27.
 */
export function requestedModes({ service_tier: tier, speed }: JsonObject): readonly PriceMode[] {
  const byTier = tier === undefined || tier === null || tier === 'auto' ? ANY_TIER : modesOf(MODES.get(tier));
  return speed === 'fast' ? ['fast', ...byTier] : byTier;
}

/** An unknown tier may have any price. */
function modesOf(mode: PriceMode | undefined): readonly PriceMode[] {
  if (mode === undefined) return PRICE_MODES;
  return mode === 'standard' ? [mode] : [mode, 'standard'];
}

/** The mode in which an answer was served, from the whole answer or an event; undefined when it names none. */
export function servedMode(message: JsonObject): PriceMode | undefined {
  for (const whole of [message, message['response'], message['message']]) {
    if (!isObject(whole)) continue;
    const { usage } = whole;
    const mode = MODES.get(whole['service_tier']) ?? (isObject(usage) ? modeOfUsage(usage) : undefined);
    if (mode !== undefined) return mode;
  }
  return undefined;
}

function modeOfUsage({ service_tier: tier, speed }: JsonObject): PriceMode | undefined {
  return speed === 'fast' ? speed : MODES.get(tier);
}
