import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Credential } from '../src/upstream/providers/provider.types.js';
import { VirtualKeyCredentials } from '../src/virtual-keys/virtual-key.credentials.js';
import { eventually } from './support/eventually.js';
import { SecretGateway } from './support/secret-gateway.js';
import { Watched } from './support/watched.js';

const VALUE = 'sk-from-the-vault-0123456789';
/** How long a virtual key stays opened. */
const CACHE_MS = 5_000;

let gateway: SecretGateway;

beforeAll(async () => {
  gateway = await SecretGateway.start();
  gateway.kv.put('cohere', { api_key: VALUE });
  gateway.accept([VALUE]);
});

afterAll(() => gateway.close());

it('releases an unused opened virtual key, but not one that opens slowly', async () => {
  const opener = gateway.app.app.get(VirtualKeyCredentials, { strict: false });
  const open = opener.open.bind(opener);
  const credentials = new Watched<Credential>();
  let delayMs = 0;
  opener.open = async (source) => {
    await sleep(delayMs);
    return credentials.hand(await open(source));
  };
  const reference = await gateway.reference('cohere');
  const [quick, slow] = [await gateway.virtualKey(reference), await gateway.virtualKey(reference)];
  // Again when the machine is so slow that it has expired before the check.
  await eventually(async () => {
    expect((await gateway.rerank(quick)).status).toBe(200);
    return (await credentials.left()) === 1;
  }, 3 * CACHE_MS);
  delayMs = CACHE_MS + 1_000;
  const waiting = gateway.rerank(slow);
  await sleep(CACHE_MS);
  await eventually(async () => (await credentials.left()) === 0);
  expect((await waiting).status).toBe(200);
});
