import { beforeEach, describe, expect, it } from '@jest/globals';
import { GatheredLog } from '../../test/support/gathered-log.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { loadConfig } from '../config/environment.js';
import { KeyRing, parseMasterKey } from '../sealing/key-ring.js';
import { Sealer } from '../sealing/sealer.js';
import { Metrics } from '../telemetry/metrics.js';
import { secretReference } from './__fixtures__/secret-reference.js';
import {
  type SecretDocument,
  SecretError,
  type SecretManager,
  type SecretRequest,
} from './managers/secret-manager.types.js';
import { IdentityAllowList } from './identity-allow-list.js';
import { SecretFetcher } from './secret-fetcher.js';
import { SecretManagers } from './secret-managers.js';
import { SecretReferenceEncryptor } from './secret-reference.credentials.js';

const REFERENCE = secretReference();
const DOCUMENT: SecretDocument = { kind: 'text', text: 'value-marker' };

class FakeManager implements SecretManager {
  readonly type = 'vendorC_vault';
  readonly requests: SecretRequest[] = [];

  constructor(private readonly answer: () => Promise<SecretDocument>) {}

  fetch(request: SecretRequest): Promise<SecretDocument> {
    this.requests.push(request);
    return this.answer();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

let metrics: Metrics;
let log: GatheredLog;

beforeEach(() => {
  metrics = new Metrics();
  log = new GatheredLog('trace');
});

function fetcherFor(...managers: readonly SecretManager[]): SecretFetcher {
  const vault = new SecretReferenceEncryptor(new Sealer(new KeyRing(parseMasterKey('01'.repeat(32)))));
  const config = loadConfig({ SECRET_MANAGER_TIMEOUT_MS: '100' });
  return new SecretFetcher(
    new SecretManagers(managers, new IdentityAllowList(config)),
    vault,
    metrics,
    log.logger,
    config,
  );
}

async function errorOf(work: Promise<unknown>): Promise<SecretError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SecretError)) throw new Error('expected a SecretError', { cause: error });
  return error;
}

async function outcomes(): Promise<readonly unknown[]> {
  return (await metrics.secretFetches.get()).values.map(({ labels }) => labels.outcome);
}

describe('a fetch', () => {
  it("asks the reference's manager for its secret, and counts it", async () => {
    const manager = new FakeManager(() => Promise.resolve(DOCUMENT));
    const reference = secretReference({ authConfig: { vendorC_addr: 'x' }, secretVersion: '3' });
    expect(await fetcherFor(manager).fetch(reference)).toBe(DOCUMENT);
    expect(manager.requests).toEqual([
      { organisationId: 'o', authConfig: { vendorC_addr: 'x' }, path: 'secret/a', version: '3' },
    ]);
    expect(await outcomes()).toEqual(['ok']);
    expect(log.text).toBe('');
  });

  it('logs a failed fetch once, without a value', async () => {
    const manager = new FakeManager(() => Promise.reject(new SecretError('access_denied', 'policy x says no')));
    expect((await errorOf(fetcherFor(manager).fetch(REFERENCE))).code).toBe('access_denied');
    expect(log.lines).toEqual([
      {
        level: 'warn',
        time: expect.any(String),
        event: 'secret_fetch_failed',
        secret_reference_id: 'a',
        organisation_id: 'o',
        manager: 'vendorC_vault',
        code: 'access_denied',
        detail: 'policy x says no',
      },
    ]);
    expect(await outcomes()).toEqual(['access_denied']);
  });

  it.each([
    ['a defect', new TypeError('of value-marker'), 'manager_failed'],
    ['a value that is not an error', 'value-marker', 'manager_failed'],
    ['another failure of ours', new GatewayError('provider_failed', { reason: 'value-marker' }), 'manager_failed'],
  ])('fails with its own words for %s', async (_what, thrown, code) => {
    const manager = new FakeManager(async () => Promise.reject(thrown));
    const error = await errorOf(fetcherFor(manager).fetch(REFERENCE));
    expect(error.code).toBe(code);
    expect(error.message + log.text).not.toContain('value-marker');
  });

  it('fails when the stored credentials do not open', async () => {
    const manager = new FakeManager(() => Promise.resolve(DOCUMENT));
    const damaged = secretReference({ sealedAuthConfig: 'v1.unknown.a.b' });
    expect((await errorOf(fetcherFor(manager).fetch(damaged))).code).toBe('decryption_failed');
    expect(manager.requests).toEqual([]);
  });

  it('ends in time when the manager never answers', async () => {
    const manager = new FakeManager(() => new Promise(() => undefined));
    const startedAt = Date.now();
    expect((await errorOf(fetcherFor(manager).fetch(REFERENCE))).code).toBe('timeout');
    expect(Date.now() - startedAt).toBeLessThan(2_000);
  });

  it('fails for an unknown manager', async () => {
    expect((await errorOf(fetcherFor().fetch(REFERENCE))).code).toBe('manager_failed');
  });
});
