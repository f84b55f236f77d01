import { expect, it } from '@jest/globals';
import { TestClock } from '../../test/support/test-clock.js';
import { StoreFailures } from '../telemetry/store-failures.js';
import { ReadinessService } from './readiness.service.js';

const failures = (): StoreFailures => new StoreFailures(new TestClock(), { warn: () => undefined });
const database = { query: () => Promise.resolve([]) };
const redis = { whyNotReady: () => Promise.resolve(undefined) };

it('has a reason of its own while the gateway stops', async () => {
  const readiness = new ReadinessService(database, redis, failures());
  await readiness.assertReady();
  readiness.startDraining();
  await expect(readiness.assertReady()).rejects.toMatchObject({ code: 'draining', status: 503, reason: 'draining' });
});

it('counts recent failures of a store that answers the probe', async () => {
  const noted = failures();
  const readiness = new ReadinessService(database, redis, noted);
  for (let count = 0; count < 5; count += 1) noted.note(new Error('the disk is full'));
  await expect(readiness.assertReady()).rejects.toMatchObject({
    code: 'store_unavailable',
    reason: 'recent store failures',
  });
});
