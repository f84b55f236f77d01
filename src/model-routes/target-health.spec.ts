import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '../config/environment.js';
import { RedisConnection } from '../redis/redis-connection.js';
import { createLogger } from '../telemetry/logger.js';
import { SharedPauses } from './shared-pauses.js';
import { healthKeyOf, TargetHealth, type TargetOutcome } from './target-health.js';

const TARGET = healthKeyOf({ virtualKeyId: 'a', model: 'm' });
const OTHER = healthKeyOf({ virtualKeyId: 'a', model: 'n' });
const START = 1_700_000_000_000;

/** Of a gateway without a Redis. */
function alone(): TargetHealth {
  return new TargetHealth(new SharedPauses(new RedisConnection(loadConfig({}), createLogger('silent'))));
}

function after(outcomes: readonly TargetOutcome[], health = alone(), at = START): TargetHealth {
  for (const outcome of outcomes) health.end(TARGET, outcome, at);
  return health;
}

function many(count: number, outcome: TargetOutcome): readonly TargetOutcome[] {
  return Array.from({ length: count }, () => outcome);
}

describe('the health of a target', () => {
  it('is good until half of at least ten calls in 30 seconds have failed', () => {
    expect(after(many(9, 'failed')).isHealthy(TARGET, START)).toBe(true);
    expect(after([...many(6, 'answered'), ...many(5, 'failed')]).isHealthy(TARGET, START)).toBe(true);
    expect(after([...many(5, 'answered'), ...many(5, 'failed')]).isHealthy(TARGET, START)).toBe(false);
  });

  it('forgets what is older than 30 seconds, and does not mix up targets', () => {
    const health = after([...many(9, 'failed'), 'answered']);
    health.end(TARGET, 'failed', START + 31_000);
    expect(health.isHealthy(TARGET, START + 31_000)).toBe(true);
    expect(health.report(TARGET, START + 31_000)).toMatchObject({ calls: 1, failures: 1 });
    expect(after(many(10, 'failed')).isHealthy(OTHER, START)).toBe(true);
  });

  it('is bad after ten failures in a row, however long each of them took', () => {
    const health = alone();
    const times = Array.from({ length: 10 }, (_, call) => START + call * 60_000);
    for (const at of times.slice(1)) health.end(TARGET, 'failed', at);
    health.end(TARGET, 'answered', START + 600_000);
    for (const at of times) health.end(TARGET, 'failed', at + 600_000);
    expect(health.report(TARGET, START + 1_140_000)).toMatchObject({ state: 'open', until: START + 1_170_000 });
    const mixed = after(many(9, 'failed'), after([...many(9, 'failed'), 'answered'], alone(), START), START + 60_000);
    expect(mixed.isHealthy(TARGET, START + 60_000)).toBe(true);
  });

  it('lets one call through after the pause, and closes when that succeeds', () => {
    const health = after(many(10, 'failed'));
    expect(health.report(TARGET, START)).toMatchObject({ state: 'open', until: START + 30_000 });
    const later = START + 30_000;
    expect(health.report(TARGET, later).state).toBe('half_open');
    expect(health.isHealthy(TARGET, later)).toBe(true);
    health.begin(TARGET, later);
    expect(health.isHealthy(TARGET, later)).toBe(false);
    health.end(TARGET, 'answered', later);
    expect(health.report(TARGET, later).state).toBe('closed');
  });

  it('pauses twice as long each time that this call fails, up to five minutes', () => {
    const health = after(many(10, 'failed'));
    let now = START + 30_000;
    for (const pause of [60_000, 120_000, 240_000, 300_000, 300_000]) {
      health.begin(TARGET, now);
      health.end(TARGET, 'failed', now);
      expect(health.report(TARGET, now)).toMatchObject({ state: 'open', until: now + pause });
      now += pause;
    }
  });

  it('waits for another call when the end of that one stays unknown', () => {
    const health = after(many(10, 'failed'));
    health.begin(TARGET, START + 30_000);
    expect(health.isHealthy(TARGET, START + 149_000)).toBe(false);
    expect(health.isHealthy(TARGET, START + 151_000)).toBe(true);
  });

  it('pauses for as long as the provider asks, five minutes at most, and counts no failure', () => {
    const health = alone();
    health.end(TARGET, 'limited', START, 2_000);
    expect(health.report(TARGET, START)).toEqual({ state: 'limited', until: START + 2_000, calls: 0, failures: 0 });
    expect(health.isHealthy(TARGET, START + 2_001)).toBe(true);
    health.end(TARGET, 'limited', START, 3_600_000);
    expect(health.report(TARGET, START).until).toBe(START + 300_000);
  });

  it('learns nothing from calls that say nothing about the provider', () => {
    expect(after(many(20, 'unknown')).report(TARGET, START)).toMatchObject({ state: 'closed', calls: 0 });
  });
});
