import { describe, expect, it } from '@jest/globals';
import { Pool } from 'undici';
import { OriginPools } from './origin-pools.js';

function pools(maxOrigins: number): { pools: OriginPools; opened: Map<string, Pool> } {
  const opened = new Map<string, Pool>();
  const open = (origin: string): Pool => {
    const pool = new Pool(origin);
    opened.set(origin, pool);
    return pool;
  };
  return { pools: new OriginPools(maxOrigins, open), opened };
}

describe('OriginPools', () => {
  it('opens one pool per origin', () => {
    const { pools: origins, opened } = pools(2);
    const first = origins.acquire('https://a.example');
    expect(origins.acquire('https://a.example')).toBe(first);
    expect(first.running).toBe(2);
    expect(opened.size).toBe(1);
  });

  it('closes the least recently used pool', () => {
    const { pools: origins, opened } = pools(2);
    for (const host of ['a', 'b', 'a', 'c']) origins.release(origins.acquire(`https://${host}.example`));

    expect(opened.get('https://b.example')?.destroyed).toBe(true);
    expect(opened.get('https://a.example')?.destroyed).toBe(false);
    expect(origins.size).toBe(2);
  });

  it('never closes a pool in use, and closes it once it is free', () => {
    const { pools: origins, opened } = pools(1);
    const a = origins.acquire('https://a.example');
    const b = origins.acquire('https://b.example');
    expect(origins.size).toBe(2);

    origins.release(a);
    expect(opened.get('https://a.example')?.destroyed).toBe(true);
    expect(opened.get('https://b.example')?.destroyed).toBe(false);
    origins.release(b);
    expect(origins.size).toBe(1);
  });

  it('opens a pool again that it had closed', () => {
    const { pools: origins } = pools(1);
    const before = origins.acquire('https://a.example');
    origins.release(before);
    origins.release(origins.acquire('https://b.example'));
    expect(origins.acquire('https://a.example').pool).not.toBe(before.pool);
  });

  it('closes all pools', async () => {
    const { pools: origins, opened } = pools(2);
    origins.release(origins.acquire('https://a.example'));
    origins.acquire('https://b.example');
    await origins.close();
    expect([...opened.values()].every((pool) => pool.destroyed)).toBe(true);
  });
});
