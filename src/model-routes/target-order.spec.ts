import { describe, expect, it } from '@jest/globals';
import type { ModelTarget } from './model-route.entity.js';
import { inTurn } from './target-order.js';

function target(model: string, order = 0, weight?: number): ModelTarget {
  return { virtualKeyId: 'id', virtualKey: 'slug', model, order, ...(weight === undefined ? {} : { weight }) };
}

const ALL_WELL = { isHealthy: () => true, affinity: undefined, random: Math.random };

function models(targets: readonly ModelTarget[]): readonly string[] {
  return targets.map(({ model }) => model);
}

/** The first target of each of many calls. */
function firsts(targets: readonly ModelTarget[], sessions: number, down?: string): ReadonlyMap<string, string> {
  const isHealthy = ({ model }: ModelTarget): boolean => model !== down;
  return new Map(
    Array.from({ length: sessions }, (_, index) => {
      const affinity = `session ${index}`;
      return [affinity, inTurn(targets, { ...ALL_WELL, isHealthy, affinity })[0]?.model ?? 'none'];
    }),
  );
}

describe('the targets of a route', () => {
  it('take calls as they are listed, without weights', () => {
    expect(models(inTurn([target('a'), target('b'), target('c', 1)], ALL_WELL))).toEqual(['a', 'b', 'c']);
  });

  it('come last when they are not healthy, whatever their order', () => {
    const choice = { ...ALL_WELL, isHealthy: ({ model }: ModelTarget) => model !== 'a' };
    expect(models(inTurn([target('a'), target('b'), target('c', 1)], choice))).toEqual(['b', 'c', 'a']);
  });

  it('get their share of the calls among those of their order', () => {
    const targets = [target('a', 0, 3), target('b'), target('c', 1, 1_000)];
    const count = new Map<string, number>();
    let seed = 1;
    const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    for (let call = 0; call < 10_000; call += 1) {
      const [first] = inTurn(targets, { ...ALL_WELL, random });
      count.set(first?.model ?? '', (count.get(first?.model ?? '') ?? 0) + 1);
    }
    expect(count.get('a')).toBeGreaterThan(7_300);
    expect(count.get('a')).toBeLessThan(7_700);
    expect(count.get('c')).toBeUndefined();
  });

  it('keep their sessions, and only those of one that fails move', () => {
    const targets = ['a', 'b', 'c', 'd'].map((model) => target(model, 0, 1));
    const before = firsts(targets, 2_000);
    const during = firsts(targets, 2_000, 'b');
    const moved = [...before].filter(([session, model]) => during.get(session) !== model);
    expect(moved.every(([, model]) => model === 'b')).toBe(true);
    expect(moved.length).toBeGreaterThan(400);
    expect(moved.length).toBeLessThan(600);
    expect([...during.values()]).not.toContain('b');
  });
});
