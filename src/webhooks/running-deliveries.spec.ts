import { describe, expect, it } from '@jest/globals';
import { RunningDeliveries } from './running-deliveries.js';

describe('RunningDeliveries', () => {
  it('counts running deliveries in total, per endpoint and per organisation, until each ends', async () => {
    const running = new RunningDeliveries();
    const ends: { done(): void; fail(error: Error): void }[] = [];
    const works = ['a', 'a', 'b'].map((id) =>
      running.during({ id, organisationId: 'o' }, () => new Promise((done, fail) => ends.push({ done, fail }))),
    );
    expect([running.total, [...running.byEndpoint]]).toEqual([
      3,
      [
        ['a', 2],
        ['b', 1],
      ],
    ]);
    expect([...running.byOrganisation]).toEqual([['o', 3]]);
    ends[0]?.done();
    ends[2]?.fail(new Error('no'));
    await works[0];
    await expect(works[2]).rejects.toThrow('no');
    expect([running.total, [...running.byEndpoint]]).toEqual([1, [['a', 1]]]);
    let isIdle = false;
    const idle = running.idle().then(() => {
      isIdle = true;
    });
    await new Promise(setImmediate);
    expect(isIdle).toBe(false);
    ends[1]?.done();
    await idle;
    expect([running.total, running.byEndpoint.size, running.byOrganisation.size]).toEqual([0, 0, 0]);
  });

  it('waits for running deliveries no longer than its limit', async () => {
    const running = new RunningDeliveries();
    void running.during({ id: 'a', organisationId: 'o' }, () => new Promise(() => undefined));
    await running.idle(10);
    expect(running.total).toBe(1);
  });
});
