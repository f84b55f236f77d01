import { expect, it } from '@jest/globals';
import { AwsOwnIdentity, type AwsIdentity, type AwsIdentityProvider } from './aws-own-identity.js';

const FOUND: AwsIdentity = { accessKeyId: 'AKIDEXAMPLE123456789', secretAccessKey: 'x', sessionToken: undefined };

/** The gateway's identity by a chain whose loads end as told, in turn. */
function identityBy(...loads: readonly (() => Promise<AwsIdentityProvider>)[]): AwsOwnIdentity {
  const left = [...loads];
  return new AwsOwnIdentity({ SECRET_MANAGER_TIMEOUT_MS: 200 }, () => {
    const load = left.shift();
    return load === undefined ? Promise.reject(new Error('loaded too often')) : load();
  });
}

const loaded = (): Promise<AwsIdentityProvider> => Promise.resolve(() => Promise.resolve(FOUND));
const broken = (): Promise<AwsIdentityProvider> => Promise.reject(new TypeError('cannot be loaded'));

it('loads the chain once', async () => {
  const identity = identityBy(loaded);
  expect(await Promise.all([identity.provide(), identity.provide()])).toEqual([FOUND, FOUND]);
  expect(await identity.provide()).toEqual(FOUND);
});

it('loads the chain again when it could not be loaded', async () => {
  const identity = identityBy(broken, loaded);
  await expect(identity.provide()).rejects.toMatchObject({ code: 'manager_failed' });
  expect(await identity.provide()).toEqual(FOUND);
  expect(await identity.provide()).toEqual(FOUND);
});

it('keeps a chain that was loaded after the one that fails late', async () => {
  let fail: (error: Error) => void = () => undefined;
  const late = (): Promise<AwsIdentityProvider> => new Promise((_resolve, reject) => (fail = reject));
  const identity = identityBy(late, loaded);
  const first = identity.provide();
  identity.forget();
  expect(await identity.provide()).toEqual(FOUND);
  fail(new TypeError('cannot be loaded'));
  await expect(first).rejects.toMatchObject({ code: 'manager_failed' });
  expect(await identity.provide()).toEqual(FOUND);
});

it('gives up a chain that is not loaded in time', async () => {
  const identity = identityBy(() => new Promise(() => undefined));
  await expect(identity.provide()).rejects.toMatchObject({ code: 'timeout' });
});
