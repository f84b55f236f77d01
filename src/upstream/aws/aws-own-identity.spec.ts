import { beforeEach, expect, it } from '@jest/globals';
import { type AwsIdentity, AwsOwnIdentity, type AwsIdentityProvider } from './aws-own-identity.js';

const FOUND: AwsIdentity = { accessKeyId: 'AKIDEXAMPLE123456789', secretAccessKey: 'x', sessionToken: undefined };

const MINUTE = 60_000;

let now: number;
beforeEach(() => {
  now = Date.parse('2026-11-21T12:00:00Z');
});

/** The gateway's identity by a chain whose loads end in the given ways, in turn. */
function identityBy(...loads: readonly (() => Promise<AwsIdentityProvider>)[]): AwsOwnIdentity {
  const left = [...loads];
  const load = (): Promise<AwsIdentityProvider> => left.shift()?.() ?? Promise.reject(new Error('loaded too often'));
  return new AwsOwnIdentity({ SECRET_MANAGER_TIMEOUT_MS: 200 }, load, () => now);
}

const loaded = (): Promise<AwsIdentityProvider> => Promise.resolve(() => Promise.resolve(FOUND));
const broken = (): Promise<AwsIdentityProvider> => Promise.reject(new TypeError('cannot be loaded'));

it('loads the chain once', async () => {
  const identity = identityBy(loaded);
  expect(await Promise.all([identity.provide(), identity.provide()])).toEqual([FOUND, FOUND]);
  expect(await identity.provide()).toEqual(FOUND);
});

it('loads the chain again after a failure', async () => {
  const identity = identityBy(broken, loaded);
  await expect(identity.provide()).rejects.toMatchObject({ message: 'cannot be loaded' });
  expect(await identity.provide()).toEqual(FOUND);
  expect(await identity.provide()).toEqual(FOUND);
});

it('keeps a loaded chain when an earlier load fails late', async () => {
  let fail: (error: Error) => void = () => undefined;
  const late = (): Promise<AwsIdentityProvider> => new Promise((_resolve, reject) => (fail = reject));
  const identity = identityBy(late, loaded);
  const first = identity.provide();
  identity.forget();
  expect(await identity.provide()).toEqual(FOUND);
  fail(new TypeError('cannot be loaded'));
  await expect(first).rejects.toMatchObject({ message: 'cannot be loaded' });
  expect(await identity.provide()).toEqual(FOUND);
});

it('gives up a chain that does not load in time', async () => {
  const identity = identityBy(() => new Promise(() => undefined));
  await expect(identity.provide()).rejects.toMatchObject({ problem: 'timeout' });
});

it('uses the key in the settings, whatever a chain would find, and keeps it', async () => {
  const settings = { AWS_ACCESS_KEY_ID: 'AKIASETTINGS', AWS_SECRET_ACCESS_KEY: 'y', AWS_SESSION_TOKEN: 'z' };
  const identity = new AwsOwnIdentity({ ...settings, SECRET_MANAGER_TIMEOUT_MS: 200 }, broken);
  const expected = { accessKeyId: 'AKIASETTINGS', secretAccessKey: 'y', sessionToken: 'z' };
  expect(identity.provide()).toEqual(expected);
  expect(identity.forget(expected)).toBe(false);
  expect(identity.provide()).toEqual(expected);
});

it('returns a found identity at once while it lasts, and requests it again before it ends', async () => {
  const found = (token: string): AwsIdentity => ({
    ...FOUND,
    sessionToken: token,
    expiration: new Date(now + 60 * MINUTE),
  });
  let asked = 0;
  const identity = identityBy(() => Promise.resolve(async () => found(`token-${(asked += 1)}`)));
  expect(await identity.provide()).toMatchObject({ sessionToken: 'token-1' });
  now += 54 * MINUTE;
  expect(identity.provide()).toMatchObject({ sessionToken: 'token-1' });
  now += MINUTE;
  expect(await identity.provide()).toMatchObject({ sessionToken: 'token-2' });
  expect(identity.provide()).toMatchObject({ sessionToken: 'token-2' });
});

it('looks for the identity again once, however many calls were refused', async () => {
  const next = { ...FOUND, secretAccessKey: 'next' };
  const identity = identityBy(loaded, () => Promise.resolve(() => Promise.resolve(next)));
  const refused = await identity.provide();
  expect(identity.forget(refused)).toBe(true);
  const finding = identity.provide();
  expect(identity.forget(refused)).toBe(true);
  expect(await finding).toEqual(next);
  expect(identity.forget(refused)).toBe(true);
  expect(identity.provide()).toEqual(next);
});
