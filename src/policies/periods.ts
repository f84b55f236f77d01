import { type ErrorDetail, fieldError } from '../common/errors/gateway.error.js';
import { dayPeriodOf, everyDays, type WindowKind } from '../usage/windows.js';
import { PERIODIC_RESETS, type PeriodicReset } from './usage-policy.entity.js';

/** How a body names the period of a policy: by name, or as a number of days. */
export interface GivenPeriod {
  readonly periodic_reset?: PeriodicReset | null;
  readonly periodic_reset_days?: number | null;
}

export function isKnownPeriod(period: string | null): boolean {
  return period === null || PERIODIC_RESETS.some((known) => known === period) || dayPeriodOf(period) !== undefined;
}

/** The period as a response shows it. */
export function shownPeriod(period: WindowKind): Required<GivenPeriod> {
  const name = period === 'monthly' || period === 'weekly' ? period : null;
  return { periodic_reset: name, periodic_reset_days: dayPeriodOf(period)?.days ?? null };
}

/**
 * The period that an update asks for; undefined: the stored one stays. `null` ends a period of its own form only, so that
 * a policy can be written back as it was read.
 */
export function periodOf(given: GivenPeriod, stored: WindowKind, now: Date): WindowKind | undefined {
  const { periodic_reset: name, periodic_reset_days: days } = given;
  const ofDays = dayPeriodOf(stored);
  if (typeof name === 'string') return name;
  if (typeof days === 'number') return everyDays(days, ofDays?.from ?? now);
  const isEnded = ofDays === undefined ? name === null : days === null;
  return isEnded ? null : undefined;
}

/** A policy has one period. */
export function periodProblems({
  periodic_reset: name,
  periodic_reset_days: days,
}: GivenPeriod): readonly ErrorDetail[] {
  const isTwice = typeof name === 'string' && typeof days === 'number';
  return isTwice ? [fieldError('periodic_reset_days', 'must not be given beside periodic_reset')] : [];
}
