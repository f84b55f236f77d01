import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ModelTarget } from './model-route.entity.js';
import { LONGEST_PAUSE_MS, SharedPauses } from './shared-pauses.js';

/**
 * `closed`: calls pass. `open`: too many have failed, and others take them. `half_open`: the next call shows whether it is well
 * again. `limited`: its provider asked for a pause with status 429.
 */
export const TARGET_STATES = ['closed', 'open', 'half_open', 'limited'] as const;
export type TargetState = (typeof TARGET_STATES)[number];

/** How a call has ended. `failed` is the provider's fault; `unknown` says nothing about the provider. */
export type TargetOutcome = 'answered' | 'failed' | 'limited' | 'unknown';

export interface HealthReport {
  readonly state: TargetState;
  /** Unix milliseconds until which its calls go to others first; undefined: they do not. */
  readonly until: number | undefined;
  /** Of the last 30 seconds. */
  readonly calls: number;
  readonly failures: number;
}

const SLOT_MS = 5_000;
const SLOTS = 6;
const LEAST_CALLS = 10;
const FAILED_SHARE = 0.5;
const FIRST_PAUSE_MS = 30_000;
/** Where a provider does not say how long it wants no calls. */
const LIMITED_MS = 10_000;
/** A call that should show whether a target is well again, and whose end is unknown after this time. */
const LOST_PROBE_MS = 120_000;
const MAX_TARGETS = 10_000;

interface Slot {
  readonly number: number;
  calls: number;
  failures: number;
}

interface Health {
  slots: Slot[];
  /** Since the last answer, however long ago they began: calls that wait for their time limit are few in 30 seconds. */
  failuresInRow: number;
  /** Pauses in a row. */
  pauses: number;
  openUntil: number | undefined;
  limitedUntil: number;
  probeUntil: number;
}

/** The name of a target here. Made once for each target: it is asked several times for every call. */
export function healthKeyOf({ virtualKeyId, model }: Pick<ModelTarget, 'virtualKeyId' | 'model'>): string {
  return `${virtualKeyId} ${model}`;
}

/**
 * How the targets of model routes are, as this gateway has seen them: one record for each model of a virtual key, whatever route
 * leads there. When half of at least ten calls in 30 seconds have failed, or ten in a row, calls go to other targets for 30
 * seconds, and twice as long each time that the next call fails too, up to five minutes. A pause that another gateway has seen counts, too. All times
 * are Unix milliseconds, and targets are named by `healthKeyOf`.
 */
@Injectable()
export class TargetHealth {
  private readonly known = new LRUCache<string, Health>({ max: MAX_TARGETS });

  constructor(private readonly shared: SharedPauses) {}

  /** Whether calls should go there first. */
  isHealthy(key: string, now: number): boolean {
    if (this.shared.of(key, now) !== undefined) return false;
    // Asked of every target for every call: the calls that go there keep it known.
    const health = this.known.peek(key);
    if (health === undefined) return true;
    if (health.limitedUntil > now) return false;
    return health.openUntil === undefined || (health.openUntil <= now && health.probeUntil <= now);
  }

  /** A call is on its way there. */
  begin(key: string, now: number): void {
    const health = this.known.peek(key);
    if (health?.openUntil !== undefined && health.openUntil <= now) health.probeUntil = now + LOST_PROBE_MS;
  }

  /** @param pauseMs that its provider asked for, of an outcome `limited` */
  end(key: string, outcome: TargetOutcome, now: number, pauseMs = LIMITED_MS): void {
    const known = this.known.get(key);
    const health = known ?? newHealth();
    health.probeUntil = 0;
    if (outcome === 'unknown') return;
    if (known === undefined) this.known.set(key, health);
    const isOver = health.openUntil !== undefined && health.openUntil <= now;
    if (outcome === 'limited') {
      health.limitedUntil = Math.max(health.limitedUntil, now + Math.min(pauseMs, LONGEST_PAUSE_MS));
      this.shared.tell(key, { state: 'limited', until: health.limitedUntil }, now);
      return;
    }
    count(health, outcome, now);
    if (outcome === 'failed') {
      if (isOver || (health.openUntil === undefined && isFailing(health, now)))
        this.shared.tell(key, { state: 'open', until: pause(health, now) }, now);
    } else if (isOver) {
      Object.assign(health, newHealth());
    }
  }

  report(key: string, now: number): HealthReport {
    const health = this.known.get(key) ?? newHealth();
    const own = stateOf(health, now);
    return { ...(own.until === undefined ? (this.shared.of(key, now) ?? own) : own), ...countsOf(health, now) };
  }
}

function stateOf({ openUntil, limitedUntil }: Health, now: number): Pick<HealthReport, 'state' | 'until'> {
  if (openUntil !== undefined && openUntil > now) return { state: 'open', until: openUntil };
  if (limitedUntil > now) return { state: 'limited', until: limitedUntil };
  return { state: openUntil === undefined ? 'closed' : 'half_open', until: undefined };
}

function newHealth(): Health {
  return { slots: [], failuresInRow: 0, pauses: 0, openUntil: undefined, limitedUntil: 0, probeUntil: 0 };
}

function count(health: Health, outcome: 'answered' | 'failed', now: number): void {
  const number = Math.floor(now / SLOT_MS);
  let slot = health.slots.at(-1);
  if (slot?.number !== number) {
    slot = { number, calls: 0, failures: 0 };
    health.slots = [...health.slots.filter((one) => isRecent(one, now)), slot];
  }
  slot.calls += 1;
  if (outcome === 'failed') slot.failures += 1;
  health.failuresInRow = outcome === 'failed' ? health.failuresInRow + 1 : 0;
}

function countsOf({ slots }: Health, now: number): { calls: number; failures: number } {
  const recent = slots.filter((slot) => isRecent(slot, now));
  const sum = (of: (slot: Slot) => number): number => recent.reduce((total, slot) => total + of(slot), 0);
  return { calls: sum(({ calls }) => calls), failures: sum(({ failures }) => failures) };
}

function isRecent({ number }: Slot, now: number): boolean {
  const age = Math.floor(now / SLOT_MS) - number;
  // A negative age: the clock was set back.
  return age >= 0 && age < SLOTS;
}

function isFailing(health: Health, now: number): boolean {
  const { calls, failures } = countsOf(health, now);
  return health.failuresInRow >= LEAST_CALLS || (calls >= LEAST_CALLS && failures >= calls * FAILED_SHARE);
}

/** @returns its end */
function pause(health: Health, now: number): number {
  const until = now + Math.min(FIRST_PAUSE_MS * 2 ** health.pauses, LONGEST_PAUSE_MS);
  health.openUntil = until;
  health.pauses += 1;
  health.slots = [];
  health.failuresInRow = 0;
  return until;
}
