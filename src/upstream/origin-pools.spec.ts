import { describe, expect, it } from '@jest/globals';
import { Pool } from 'undici';
import { OriginPools, type ConnectionShare } from './origin-pools.js';

function pools(maxOrigins: number): { pools: OriginPools; opened: Map<string, Pool> } {
  const opened = new Map<string, Pool>();
  const open = (origin: string): Pool => {
    const pool = new Pool(origin);
    opened.set(origin, pool);
    return pool;
  };
  return { pools: new OriginPools({ maxOrigins, connectionsPerOrigin: 2, open }), opened };
}

function enter(origins: OriginPools, host: string): ConnectionShare {
  const gate = origins.at(`https://${host}.example`);
  const share = gate.shareOf(undefined);
  expect(gate.tryEnter(share)).toBe(true);
  return share;
}

describe('OriginPools', () => {
  it('opens one pool per origin', () => {
    const { pools: origins, opened } = pools(2);
    const [first, second] = [enter(origins, 'a'), enter(origins, 'a')];
    expect(second.gate).toBe(first.gate);
    expect(origins.counts()).toEqual({ in_use: 2, waiting: 0, full_origins: 0 });
    expect(opened.size).toBe(1);
  });

  it('closes the least recently used pool', () => {
    const { pools: origins, opened } = pools(2);
    for (const host of ['a', 'b', 'a', 'c']) enter(origins, host).release();

    expect(opened.get('https://b.example')?.destroyed).toBe(true);
    expect(opened.get('https://a.example')?.destroyed).toBe(false);
    expect(origins.size).toBe(2);
  });

  it('never closes a pool in use, and closes it once it is free', () => {
    const { pools: origins, opened } = pools(1);
    const a = enter(origins, 'a');
    const b = enter(origins, 'b');
    expect(origins.size).toBe(2);

    a.release();
    expect(opened.get('https://a.example')?.destroyed).toBe(true);
    expect(opened.get('https://b.example')?.destroyed).toBe(false);
    b.release();
    expect(origins.size).toBe(1);
  });

  it('opens a pool again that it had closed', () => {
    const { pools: origins } = pools(1);
    const before = enter(origins, 'a');
    before.release();
    enter(origins, 'b').release();
    expect(enter(origins, 'a').gate.pool).not.toBe(before.gate.pool);
  });

  it('closes all pools', async () => {
    const { pools: origins, opened } = pools(2);
    enter(origins, 'a').release();
    enter(origins, 'b');
    await origins.close();
    expect([...opened.values()].every((pool) => pool.destroyed)).toBe(true);
  });
});
