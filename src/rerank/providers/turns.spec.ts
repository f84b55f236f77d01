import { describe, expect, it } from '@jest/globals';
import { Turns } from './turns.js';

describe('Turns', () => {
  it('is over after the units of a turn, and begins anew', async () => {
    const turns = new Turns(3);
    expect([turns.spent(1), turns.spent(1), turns.spent(1), turns.spent(1)]).toEqual([false, false, true, true]);
    await turns.next();
    expect([turns.spent(2), turns.spent(2)]).toEqual([false, true]);
  });

  it('gives way to what was waiting', async () => {
    const order: string[] = [];
    setImmediate(() => order.push('other'));
    await new Turns(1).next();
    order.push('us');
    expect(order).toEqual(['other', 'us']);
  });
});
