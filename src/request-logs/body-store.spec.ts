import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type FakeS3, startFakeS3 } from '../../test/support/fake-s3.js';
import { AppConfig, loadConfig } from '../config/environment.js';
import { AwsOwnIdentity } from '../upstream/aws/aws-own-identity.js';
import type { BodyKey, BodyStore } from './body-store.js';
import { bodyStoreOf } from './body-store.provider.js';

const A = '00000000-0000-4000-8000-00000000000a';
const B = '00000000-0000-4000-8000-00000000000b';
const goOn = (): boolean => false;

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

function storeFor(settings: Readonly<Record<string, string>>): BodyStore {
  const config = loadConfig(settings);
  const store = bodyStoreOf(config, new AwsOwnIdentity(config));
  if (store === undefined) throw new Error('no store');
  cleanUps.push(() => store.close());
  return store;
}

async function s3(): Promise<FakeS3> {
  const server = await startFakeS3();
  cleanUps.push(() => server.close());
  return server;
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'bodies-'));
  cleanUps.push(() => rm(path, { recursive: true }));
  return path;
}

function key(day: string, id = A, organisationId = B): BodyKey {
  return { organisationId, id, day };
}

it('is none without REQUEST_LOG_BODIES', () => {
  expect(bodyStoreOf(new AppConfig(), new AwsOwnIdentity(new AppConfig()))).toBeUndefined();
});

describe.each<[string, () => Promise<BodyStore>]>([
  ['a folder', async () => storeFor({ REQUEST_LOG_BODIES: join(await folder(), 'made', 'later') })],
  ['a bucket', async () => storeFor((await s3()).settings)],
])('%s', (_name, open) => {
  it('has what was put last at each place, and nothing elsewhere', async () => {
    const store = await open();
    await store.put(key('2026-11-29'), 'first');
    await store.put(key('2026-11-29'), 'second');
    await store.put(key('2026-11-29', B, A), 'other');
    expect(await store.get(key('2026-11-29'))).toBe('second');
    expect(await store.get(key('2026-11-29', B, A))).toBe('other');
    for (const absent of [key('2026-11-30'), key('2026-11-29', B), key('2026-11-29', A, A)]) {
      expect(await store.get(absent)).toBeUndefined();
    }
  });

  it('lists its days, and deletes one of them alone', async () => {
    const store = await open();
    expect(await store.days()).toEqual([]);
    const days = ['2026-11-27', '2026-11-28', '2026-11-29'];
    for (const day of days) {
      for (const id of [A, B]) {
        await store.put(key(day, id), day);
        await store.put(key(day, id, A), day);
      }
    }
    expect([...(await store.days())].sort()).toEqual(days);
    await store.deleteDay('2026-11-28', goOn);
    await store.deleteDay('2026-11-20', goOn);
    expect([...(await store.days())].sort()).toEqual(['2026-11-27', '2026-11-29']);
    expect(await store.get(key('2026-11-28'))).toBeUndefined();
    expect(await store.get(key('2026-11-29', B, A))).toBe('2026-11-29');
  });
});

describe('a folder', () => {
  it('is readable by its owner alone, and leaves other files alone', async () => {
    const path = await folder();
    const store = storeFor({ REQUEST_LOG_BODIES: path });
    await writeFile(join(path, 'README'), 'of another program');
    await store.put(key('2026-11-29'), 'sealed');
    expect(await store.days()).toEqual(['2026-11-29']);
    const place = join(path, '2026-11-29', B);
    expect(await readdir(place)).toEqual([A]);
    expect((await stat(place)).mode & 0o777).toBe(0o700);
    expect((await stat(join(place, A))).mode & 0o777).toBe(0o600);
  });

  it('fails where it cannot write', async () => {
    const path = await folder();
    await writeFile(join(path, 'file'), '');
    const store = storeFor({ REQUEST_LOG_BODIES: join(path, 'file') });
    await expect(store.put(key('2026-11-29'), 'sealed')).rejects.toThrow();
  });
});

describe('a bucket', () => {
  it('has objects below its prefix', async () => {
    const server = await s3();
    server.objects.set('of/calls/README', 'of another program');
    server.objects.set('2026-11-01/x/y', 'of another program');
    const store = storeFor(server.settings);
    await store.put(key('2026-11-29'), 'sealed');
    expect(server.objects.get(`of/calls/2026-11-29/${B}/${A}`)).toBe('sealed');
    expect(await store.days()).toEqual(['2026-11-29']);
  });

  it('deletes no more once the gateway stops', async () => {
    const server = await s3();
    const store = storeFor(server.settings);
    for (const id of ['1', '2', '3']) await store.put(key('2026-11-29', id), id);
    await store.deleteDay('2026-11-29', () => true);
    expect(server.objects.size).toBe(3);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['a wrong secret', { REQUEST_LOG_S3_SECRET_ACCESS_KEY: 'another' }],
    ['another bucket', { REQUEST_LOG_BODIES: 's3://missing' }],
    ['a host where nothing listens', { REQUEST_LOG_S3_ENDPOINT: 'http://127.0.0.1:1' }],
  ])('fails with %s', async (_what, wrong) => {
    const store = storeFor({ ...(await s3()).settings, ...wrong });
    await expect(store.put(key('2026-11-29'), 'sealed')).rejects.toThrow();
    await expect(store.days()).rejects.toThrow();
  });
});
