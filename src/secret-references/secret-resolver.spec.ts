import { beforeEach, describe, expect, it } from '@jest/globals';
import { TestClock } from '../../test/support/test-clock.js';
import { Metrics } from '../telemetry/metrics.js';
import { secretReference } from './__fixtures__/secret-reference.js';
import { type SecretDocument, SecretError, type SecretErrorCode } from './managers/secret-manager.types.js';
import { SecretResolver } from './secret-resolver.js';

const REFERENCE = secretReference();
const LIFETIME = { cacheMs: 300_000, staleMs: 900_000 };

/** A manager that returns what a test sets, or waits for it. */
class FakeFetcher {
  calls = 0;
  value = 'v1';
  failure: SecretErrorCode | undefined;
  #gate: Promise<void> | undefined;

  /** Fetches wait until the returned function is called. What they then bring was decided before. */
  hold(): () => void {
    let open = (): void => undefined;
    this.#gate = new Promise((resolve) => {
      open = resolve;
    });
    return () => {
      this.#gate = undefined;
      open();
    };
  }

  async fetch(): Promise<SecretDocument> {
    this.calls += 1;
    const { value, failure } = this;
    await this.#gate;
    if (failure !== undefined) throw new SecretError(failure, 'a test');
    return { kind: 'text', text: value };
  }
}

let fetcher: FakeFetcher;
let clock: TestClock;
let metrics: Metrics;
let notes: (SecretErrorCode | null)[];
let resolver: SecretResolver;

function resolverFor(lifetime = LIFETIME): SecretResolver {
  const status = { note: (_reference: object, error: SecretErrorCode | null) => void notes.push(error) };
  return new SecretResolver({ fetcher, status, metrics, clock, lifetime, random: () => 0.5 });
}

beforeEach(() => {
  fetcher = new FakeFetcher();
  clock = TestClock.still();
  metrics = new Metrics();
  notes = [];
  resolver = resolverFor();
});

async function textOf(work: Promise<SecretDocument>): Promise<string> {
  const document = await work;
  return document.kind === 'text' ? document.text : '';
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SecretError)) throw new Error('nothing was refused');
  return error.code;
}

async function staleServed(): Promise<number> {
  return (await metrics.secretStaleServed.get()).values[0]?.value ?? 0;
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a first use', () => {
  it('fetches once for a thousand concurrent first uses', async () => {
    const open = fetcher.hold();
    const uses = Array.from({ length: 1_000 }, () => textOf(resolver.resolve(REFERENCE)));
    open();
    expect(new Set(await Promise.all(uses))).toEqual(new Set(['v1']));
    expect(fetcher.calls).toBe(1);
    expect(notes).toEqual([null]);
  });

  it('fails once for all that wait when the first fetch fails', async () => {
    fetcher.failure = 'unreachable';
    const open = fetcher.hold();
    const uses = Array.from({ length: 1_000 }, () => codeOf(resolver.resolve(REFERENCE)));
    open();
    expect(new Set(await Promise.all(uses))).toEqual(new Set(['unreachable']));
    expect(fetcher.calls).toBe(1);
    expect(notes).toEqual(['unreachable']);
  });

  it('fetches each of two references', async () => {
    await Promise.all([resolver.resolve(REFERENCE), resolver.resolve(secretReference({ id: 'b' }))]);
    expect(fetcher.calls).toBe(2);
  });
});

describe('a value', () => {
  it('keeps a value for its time, then fetches it again', async () => {
    await resolver.resolve(REFERENCE);
    fetcher.value = 'v2';
    clock.advance(269_000);
    expect(await textOf(resolver.resolve(REFERENCE))).toBe('v1');
    expect(fetcher.calls).toBe(1);
    clock.advance(40_000);
    expect(await textOf(resolver.resolve(REFERENCE))).toBe('v2');
  });

  it('fetches a value in use ahead, once, and no request waits for it', async () => {
    await resolver.resolve(REFERENCE);
    fetcher.value = 'v2';
    clock.advance(280_000);
    const open = fetcher.hold();
    for (let use = 0; use < 10; use += 1) expect(await textOf(resolver.resolve(REFERENCE))).toBe('v1');
    expect(fetcher.calls).toBe(2);
    open();
    await settled();
    expect(await textOf(resolver.resolve(REFERENCE))).toBe('v2');
    expect(fetcher.calls).toBe(2);
  });

  it('fetches the value of another revision', async () => {
    await resolver.resolve(REFERENCE);
    fetcher.value = 'v2';
    expect(await textOf(resolver.resolve(secretReference({ revision: 2 })))).toBe('v2');
  });

  it('does not replace a newer value by one of an older revision', async () => {
    fetcher.value = 'v2';
    await resolver.resolve(secretReference({ revision: 2 }));
    fetcher.value = 'v1';
    expect(await textOf(resolver.resolve(REFERENCE))).toBe('v1');
    expect(await textOf(resolver.resolve(secretReference({ revision: 2 })))).toBe('v2');
  });

  it('drops a value, also one in flight, when its reference is forgotten', async () => {
    const open = fetcher.hold();
    const old = textOf(resolver.resolve(REFERENCE));
    resolver.forget('a');
    open();
    expect(await old).toBe('v1');
    fetcher.value = 'v2';
    expect(await textOf(resolver.resolve(REFERENCE))).toBe('v2');
    resolver.forget('a');
    fetcher.value = 'v3';
    expect(await textOf(resolver.resolve(REFERENCE))).toBe('v3');
  });

  it('notifies listeners of forgotten references', () => {
    let told = 0;
    resolver.onForget(() => (told += 1));
    resolver.forget('a');
    expect(told).toBe(1);
  });

  it('fetches a value at each use when it is not cached', async () => {
    resolver = resolverFor({ cacheMs: 0, staleMs: 0 });
    await resolver.resolve(REFERENCE);
    await resolver.resolve(REFERENCE);
    expect(fetcher.calls).toBe(2);
  });
});

describe('while the manager fails', () => {
  beforeEach(() => resolver.resolve(REFERENCE));

  it('serves the last value for the bounded time while the manager fails, counts it, and recovers', async () => {
    fetcher.failure = 'unreachable';
    clock.advance(301_000);
    expect(await textOf(resolver.resolve(REFERENCE))).toBe('v1');
    expect(await textOf(resolver.resolve(REFERENCE))).toBe('v1');
    expect(fetcher.calls).toBe(2);
    expect(await staleServed()).toBe(2);
    clock.advance(900_000);
    expect(await codeOf(resolver.resolve(REFERENCE))).toBe('unreachable');
    expect(await codeOf(resolver.resolve(REFERENCE))).toBe('unreachable');
    expect(fetcher.calls).toBe(3);
    fetcher.failure = undefined;
    clock.advance(5_000);
    expect(await textOf(resolver.resolve(REFERENCE))).toBe('v1');
    expect(notes).toEqual([null, 'unreachable', 'unreachable', null]);
  });

  it('asks a failing manager in the background, no more often than every few seconds', async () => {
    fetcher.failure = 'timeout';
    clock.advance(301_000);
    await resolver.resolve(REFERENCE);
    for (let second = 0; second < 20; second += 1) {
      const open = fetcher.hold();
      expect(await textOf(resolver.resolve(REFERENCE))).toBe('v1');
      open();
      await settled();
      clock.advance(1_000);
    }
    expect(fetcher.calls).toBeGreaterThanOrEqual(4);
    expect(fetcher.calls).toBeLessThanOrEqual(6);
  });

  it.each(['not_found', 'deleted', 'disabled', 'access_denied', 'authentication_failed'] as const)(
    'drops the value when the manager reports %s, which may be a revocation',
    async (code) => {
      fetcher.failure = code;
      clock.advance(301_000);
      expect(await codeOf(resolver.resolve(REFERENCE))).toBe(code);
      expect(await codeOf(resolver.resolve(REFERENCE))).toBe(code);
      expect(fetcher.calls).toBe(2);
      expect(await staleServed()).toBe(0);
    },
  );

  it('ends the value at a revocation that is noticed ahead of time', async () => {
    fetcher.failure = 'deleted';
    clock.advance(280_000);
    await resolver.resolve(REFERENCE);
    await settled();
    expect(await codeOf(resolver.resolve(REFERENCE))).toBe('deleted');
  });
});

describe('a clock that is set back', () => {
  it('delays neither the next fetch nor the end of a value when the clock is set back', async () => {
    fetcher.failure = 'sealed';
    expect(await codeOf(resolver.resolve(REFERENCE))).toBe('sealed');
    fetcher.failure = undefined;
    clock.setBack(3 * 3_600_000);
    clock.advance(4_900);
    expect(await codeOf(resolver.resolve(REFERENCE))).toBe('sealed');
    clock.advance(100);
    expect(await textOf(resolver.resolve(REFERENCE))).toBe('v1');
    fetcher.value = 'v2';
    clock.setBack(3 * 3_600_000);
    clock.advance(300_000);
    expect(await textOf(resolver.resolve(REFERENCE))).toBe('v2');
  });

  it('reads a refused value again when the clock is set back', async () => {
    await resolver.refresh(REFERENCE);
    fetcher.value = 'v2';
    clock.setBack(3 * 3_600_000);
    expect(await textOf(resolver.refresh(REFERENCE))).toBe('v1');
    clock.advance(10_000);
    expect(await textOf(resolver.refresh(REFERENCE))).toBe('v2');
  });
});

describe('a refresh after a refusal', () => {
  beforeEach(() => resolver.resolve(REFERENCE));

  it('reads again after a refusal, once for all requests within ten seconds', async () => {
    fetcher.value = 'v2';
    const uses = Array.from({ length: 100 }, () => textOf(resolver.refresh(REFERENCE)));
    expect(new Set(await Promise.all(uses))).toEqual(new Set(['v2']));
    clock.advance(9_000);
    await resolver.refresh(REFERENCE);
    expect(fetcher.calls).toBe(2);
    clock.advance(1_000);
    await resolver.refresh(REFERENCE);
    expect(fetcher.calls).toBe(3);
  });

  it('does not use a fetch that began before the refusal', async () => {
    clock.advance(280_000);
    const open = fetcher.hold();
    await resolver.resolve(REFERENCE);
    fetcher.value = 'v2';
    const refreshed = textOf(resolver.refresh(REFERENCE));
    open();
    expect(await refreshed).toBe('v2');
    expect(await textOf(resolver.resolve(REFERENCE))).toBe('v2');
  });

  it('returns the last value after a refusal while the manager fails, and asks it no more', async () => {
    fetcher.failure = 'unreachable';
    expect(await textOf(resolver.refresh(REFERENCE))).toBe('v1');
    clock.advance(1_000);
    expect(await textOf(resolver.refresh(REFERENCE))).toBe('v1');
    expect(fetcher.calls).toBe(2);
  });

  it('fails after a refusal when the secret was revoked', async () => {
    fetcher.failure = 'disabled';
    expect(await codeOf(resolver.refresh(REFERENCE))).toBe('disabled');
    expect(await codeOf(resolver.resolve(REFERENCE))).toBe('disabled');
  });
});

describe('a fetch that was asked for', () => {
  it('asks the manager for a fetch on request and serves all later requests with it', async () => {
    await resolver.resolve(REFERENCE);
    fetcher.value = 'v2';
    expect(await textOf(resolver.fetch(REFERENCE))).toBe('v2');
    expect(await textOf(resolver.resolve(REFERENCE))).toBe('v2');
    expect(fetcher.calls).toBe(2);
  });

  it('asks the manager for a fetch on request after a failure too', async () => {
    fetcher.failure = 'not_found';
    expect(await codeOf(resolver.resolve(REFERENCE))).toBe('not_found');
    fetcher.failure = undefined;
    expect(await textOf(resolver.fetch(REFERENCE))).toBe('v1');
    expect(await textOf(resolver.resolve(REFERENCE))).toBe('v1');
  });
});

it('rethrows errors that are not failures of a manager', async () => {
  fetcher.fetch = () => Promise.reject(new TypeError('a defect'));
  await expect(resolver.resolve(REFERENCE)).rejects.toThrow(TypeError);
});
