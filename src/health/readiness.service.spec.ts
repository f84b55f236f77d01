import { expect, it } from '@jest/globals';
import { TestClock } from '../../test/support/test-clock.js';
import { AppConfig } from '../config/environment.js';
import { StoreFailures } from '../telemetry/store-failures.js';
import { ReadinessService } from './readiness.service.js';

const failures = (): StoreFailures => new StoreFailures(new TestClock(), { warn: () => undefined });
const database = { query: () => Promise.resolve([]) };
const redis = { whyNotReady: () => Promise.resolve(undefined) };

it('has a reason of its own while the gateway stops', async () => {
  const readiness = new ReadinessService(database, redis, failures(), new TestClock(), new AppConfig());
  await readiness.assertReady();
  readiness.startDraining();
  await expect(readiness.assertReady()).rejects.toMatchObject({ code: 'draining', status: 503, reason: 'draining' });
});

it('counts recent failures of a store that answers the probe', async () => {
  const noted = failures();
  const readiness = new ReadinessService(database, redis, noted, new TestClock(), new AppConfig());
  for (let count = 0; count < 5; count += 1) noted.note(new Error('the disk is full'));
  await expect(readiness.assertReady()).rejects.toMatchObject({
    code: 'store_unavailable',
    reason: 'recent store failures',
  });
});

it('stays ready for the grace time while the database is away or silent, and no longer', async () => {
  const clock = TestClock.still();
  const config = Object.assign(new AppConfig(), { DATABASE_OUTAGE_GRACE_SECONDS: 60 });
  let query = (): Promise<unknown> => Promise.resolve([]);
  const readiness = new ReadinessService({ query: () => query() }, redis, failures(), clock, config);
  await readiness.assertReady();
  query = () => Promise.reject(new Error('Connection terminated'));
  // However long the last good probe is ago.
  clock.advance(3_600_000);
  await readiness.assertReady();
  clock.advance(59_000);
  await readiness.assertReady();
  query = () => new Promise(() => undefined);
  await readiness.assertReady();
  clock.advance(1_000);
  await expect(readiness.assertReady()).rejects.toMatchObject({ code: 'store_unavailable' });
  query = () => Promise.resolve([]);
  await readiness.assertReady();
  query = () => Promise.reject(new Error('Connection terminated'));
  await readiness.assertReady();
});

it('is not ready before the database has ever taken writes, also with a grace time', async () => {
  const config = Object.assign(new AppConfig(), { DATABASE_OUTAGE_GRACE_SECONDS: 60 });
  const away = { query: () => Promise.reject(new Error('Connection terminated')) };
  const readiness = new ReadinessService(away, redis, failures(), new TestClock(), config);
  await expect(readiness.assertReady()).rejects.toMatchObject({ code: 'store_unavailable' });
});
