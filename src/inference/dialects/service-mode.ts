import { isObject, type JsonObject } from '../../common/json/read.js';
import { PRICE_MODES, type PriceMode } from '../../usage/prices/price.types.js';

/** The members of a request that say how it is to be served, and so at which prices: of OpenAI's API, and of Anthropic's. */
export const MODE_MEMBERS = ['service_tier', 'speed'] as const;

/** What the APIs call the modes, where it is another word. `scale` is capacity that was bought before. */
const MODES: ReadonlyMap<unknown, PriceMode> = new Map<string, PriceMode>([
  ...PRICE_MODES.map((mode) => [mode, mode] as const),
  ['default', 'standard'],
  ['standard_only', 'standard'],
  ['scale', 'standard'],
]);
/** What the provider may choose, where the request leaves it to the settings of the account. */
const ANY_TIER: readonly PriceMode[] = ['standard', 'flex', 'priority'];

/**
 * The modes in which a call may be served: what it asks for, and the standard one, which a provider may fall back to. The first
 * is the one that counts where the answer does not say it.
 * Source: https://platform.openai.com/docs/api-reference/chat/create and https://docs.anthropic.com/en/api/service-tiers, read
 * 2026-11-27.
 */
export function requestedModes({ service_tier: tier, speed }: JsonObject): readonly PriceMode[] {
  const byTier = tier === undefined || tier === null || tier === 'auto' ? ANY_TIER : modesOf(MODES.get(tier));
  return speed === 'fast' ? ['fast', ...byTier] : byTier;
}

/** A tier that is not known may have any price. */
function modesOf(mode: PriceMode | undefined): readonly PriceMode[] {
  if (mode === undefined) return PRICE_MODES;
  return mode === 'standard' ? [mode] : [mode, 'standard'];
}

/** How an answer, or the answer that an event is about, was served; undefined where it does not say it. */
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
