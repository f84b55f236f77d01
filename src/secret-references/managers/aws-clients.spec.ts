import { expect, it } from '@jest/globals';
import { AwsClients, type AwsCaller } from './aws-clients.js';

const CALLER: AwsCaller = { organisationId: 'o', auth: { type: 'serviceRole' }, region: 'eu-central-1' };

/** Clients whose network fails the first times. */
function clientsAfter(failures: number): AwsClients {
  let left = failures;
  const sender = (): (() => Promise<never>) => {
    left -= 1;
    if (left >= 0) throw new TypeError('no network');
    return () => Promise.reject(new TypeError('no network'));
  };
  const identity = {
    provide: () => Promise.resolve({ accessKeyId: 'a', secretAccessKey: 'b', sessionToken: undefined }),
  };
  return new AwsClients({ sender }, identity, {});
}

it('makes one client per caller', async () => {
  const clients = clientsAfter(0);
  const client = clients.clientFor(CALLER);
  expect(clients.clientFor(CALLER)).toBe(client);
  expect(clients.clientFor({ ...CALLER, organisationId: 'p' })).not.toBe(client);
  await client;
});

it('makes another client when the first could not be made', async () => {
  const clients = clientsAfter(1);
  await expect(clients.clientFor(CALLER)).rejects.toThrow('no network');
  expect(clients.kept(CALLER)).toBeUndefined();
  await expect(clients.clientFor(CALLER)).resolves.toBeDefined();
});

it('forgets the refused client, and none that was made since', async () => {
  const clients = clientsAfter(0);
  const refused = clients.clientFor(CALLER);
  expect(clients.forget(CALLER, refused)).toBe(true);
  const made = clients.clientFor(CALLER);
  expect(clients.forget(CALLER, refused)).toBe(false);
  expect(clients.kept(CALLER)).toBe(made);
  await Promise.all([refused, made]);
});
