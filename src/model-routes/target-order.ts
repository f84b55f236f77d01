import { createHash } from 'node:crypto';
import type { ModelTarget } from './model-route.entity.js';

/** Bytes of a hash that a float holds exactly. */
const HASH_BYTES = 6;
const HASHES = 2 ** (8 * HASH_BYTES);

export interface TargetChoice<Target extends ModelTarget> {
  readonly isHealthy: (target: Target) => boolean;
  /** What calls that should go to the same target have in common, such as the name of a session. */
  readonly affinity: string | undefined;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
}

type Chance = Pick<TargetChoice<ModelTarget>, 'affinity' | 'random'>;

/**
 * The targets of a route in the order in which a call tries them: the healthy ones first. Among those of the same order, the
 * weights decide how many calls each gets; without weights, the list does.
 *
 * Calls with something in common go to the same target while it is healthy, without anything to remember: each target has a score
 * for it, and the highest is first. When one fails, only its own calls move (rendezvous hashing with weights; Schindelhauer and
 * Schomaker, "Weighted distributed hash tables", 2005).
 *
 * @param targets by their `order`
 */
export function inTurn<Target extends ModelTarget>(
  targets: readonly Target[],
  choice: TargetChoice<Target>,
): readonly Target[] {
  if (targets.length < 2) return targets;
  const weighted = targets.some(({ weight }) => weight !== undefined) ? byWeight(targets, choice) : targets;
  const healthy = weighted.filter(choice.isHealthy);
  if (healthy.length === weighted.length) return weighted;
  return [...healthy, ...weighted.filter((target) => !healthy.includes(target))];
}

function byWeight<Target extends ModelTarget>(targets: readonly Target[], choice: Chance): readonly Target[] {
  const weightedOrders = new Set(targets.filter(({ weight }) => weight !== undefined).map(({ order }) => order));
  const scored = targets.map((target) => ({
    target,
    score: weightedOrders.has(target.order) ? scoreOf(target, choice) : 0,
  }));
  // Stable: those without weights stay as they are listed.
  return scored
    .toSorted((one, other) => one.target.order - other.target.order || other.score - one.score)
    .map(({ target }) => target);
}

/** Of all targets, each is highest with the probability of its share of the weights. */
function scoreOf({ virtualKeyId, model, weight = 1 }: ModelTarget, { affinity, random }: Chance): number {
  const share = affinity === undefined ? random() : hashOf(`${virtualKeyId} ${model} ${affinity}`);
  return -weight / Math.log(Math.max(share, Number.MIN_VALUE));
}

/** Evenly spread from 0 to 1, both excluded. */
function hashOf(text: string): number {
  return (createHash('sha1').update(text).digest().readUIntBE(0, HASH_BYTES) + 0.5) / HASHES;
}
