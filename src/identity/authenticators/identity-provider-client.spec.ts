import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type FakeProvider,
  hangUp,
  json,
  type Reply,
  startFakeProvider,
  text,
} from '../../../test/support/fake-provider.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { Clock } from '../../common/time/clock.js';
import { loopbackPolicy } from '../../upstream/__fixtures__/calls.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { toJwtValidation } from '../config/to-jwt-validation.js';
import { IdentityProviderClient } from './identity-provider-client.js';
import { Introspector } from './introspector.js';

const SECRET = 's3cr3t';

let provider: FakeProvider;
let lines: unknown[];

beforeEach(async () => {
  provider = await startFakeProvider();
  lines = [];
});
afterEach(() => provider.close());

/** What the log says of a failure. */
async function reasonOf(failed: Promise<unknown>): Promise<string> {
  const error: unknown = await failed.catch((thrown: unknown) => thrown);
  if (!(error instanceof GatewayError)) throw new Error('the gateway refused nothing');
  expect(error.code).toBe('identity_provider_unavailable');
  expect(`${error.message} ${error.reason}`).not.toContain(SECRET);
  return error.reason ?? '';
}

function clientOn(egress: EgressPolicy, clock: Clock): IdentityProviderClient {
  return new IdentityProviderClient(egress, clock, { warn: (line: unknown) => lines.push(line) });
}

async function introspect(egress = loopbackPolicy()): Promise<unknown> {
  const clock = new Clock();
  const introspector = new Introspector(clientOn(egress, clock), () => clock.monotonic());
  const from = { endpoint: `${provider.url}/introspect`, clientId: 'gateway', clientSecret: SECRET, cacheSeconds: 0 };
  return introspector.introspect('opaque', from, toJwtValidation({}), clock.now());
}

function keySet(egress = loopbackPolicy()): () => Promise<unknown> {
  const client = clientOn(egress, new Clock()).keySetAt(`${provider.url}/keys`);
  return () => client.keyFor({ alg: 'RS256' }, { payload: '', signature: '' });
}

const failures: readonly (readonly [string, Reply, RegExp])[] = [
  [
    'refuses the credentials',
    json({ error: 'invalid_client', error_description: SECRET }, 401),
    /: expected status 200, not 401$/,
  ],
  ['redirects', json({}, 302, { location: `https://example.com/${SECRET}` }), /: redirect: /],
  ['answers with a page', text(`<html>${SECRET}</html>`, 'text/html'), /: the answer is not JSON$/],
  ['hangs up', hangUp, /: broken: /],
  ['answers without an end', text(SECRET.repeat(100_000), 'application/json'), /: too_large: /],
];

describe('IdentityProviderClient', () => {
  it.each(failures)('logs why introspection failed when the provider %s', async (_what, reply, reason) => {
    provider.replyWith(reply);
    const said = await reasonOf(introspect());
    expect(said).toMatch(/^the introspection endpoint gives no answer: /);
    expect(said).toMatch(reason);
  });

  it.each([...failures, ['has no keys', json({ keys: SECRET }), /: not a key set of at most 100 keys$/] as const])(
    'logs why the key set could not be fetched when the provider %s',
    async (_what, reply, reason) => {
      provider.replyWith(reply);
      const ask = keySet();
      const told = await reasonOf(ask());
      expect(told).toMatch(reason);
      expect(lines).toEqual([{ event: 'key_set_not_fetched', host: new URL(provider.url).host, reason: told }]);
      // It is not asked again at once; what holds callers up is the same.
      expect(await reasonOf(ask())).toMatch(reason);
      expect(provider.calls).toHaveLength(1);
    },
  );

  it('logs that EGRESS_ALLOW refuses the address of the provider', async () => {
    const nowhere = new EgressPolicy([]);
    for (const failed of [introspect(nowhere), keySet(nowhere)()]) {
      expect(await reasonOf(failed)).toMatch(/: refused_by_egress: /);
    }
    expect(provider.calls).toEqual([]);
  });
});
