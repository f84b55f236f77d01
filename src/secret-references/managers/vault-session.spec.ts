// What depends on the order in which answers come; the rest is in hashicorp-vault.sessions.spec.ts.
import { beforeEach, describe, expect, it } from '@jest/globals';
import { TestClock } from '../../../test/support/test-clock.js';
import type { VaultAnswer, VaultRequest } from './vault-http.js';
import { VaultSession, VaultTokenRefused, type VaultSend } from './vault-session.js';

/** Answers requests when a test says so. */
class HeldVault {
  readonly waiting: { readonly request: VaultRequest; readonly answer: (answer: Partial<VaultAnswer>) => void }[] = [];

  send(request: VaultRequest): Promise<VaultAnswer> {
    return new Promise((resolve) => {
      const answer = (given: Partial<VaultAnswer>): void => resolve({ status: 200, body: {}, detail: '', ...given });
      this.waiting.push({ request, answer });
    });
  }

  /** Answers the oldest request for a path, and lets what follows from that happen. */
  async answer(path: string, answer: Partial<VaultAnswer>): Promise<VaultRequest> {
    const index = this.waiting.findIndex(({ request }) => request.path === path);
    const [held] = this.waiting.splice(index, index < 0 ? 0 : 1);
    if (held === undefined) throw new Error(`no request waits for ${path}`);
    held.answer(answer);
    await new Promise(setImmediate);
    return held.request;
  }

  login(token: string): Promise<VaultRequest> {
    return this.answer('auth/approle/login', { body: leaseOf(token) });
  }
}

const DEAD: Partial<VaultAnswer> = { status: 403, detail: '403: permission denied; invalid token' };
const DENIED: Partial<VaultAnswer> = { status: 403, detail: '403: permission denied' };

function leaseOf(client_token: string): VaultAnswer['body'] {
  return { auth: { client_token, lease_duration: 60, renewable: true } };
}

/** Reads one path, and answers with the token that it was read with. */
function reading(path: string): (send: VaultSend) => Promise<string> {
  return async (send) => {
    const answer = await send({ method: 'GET', path });
    if (answer.status === 403) throw new VaultTokenRefused(answer.detail);
    return answer.detail;
  };
}

let vault: HeldVault;
let clock: TestClock;
let session: VaultSession;

beforeEach(async () => {
  vault = new HeldVault();
  clock = TestClock.still();
  const login = () => Promise.resolve({ path: 'auth/approle/login', body: {} });
  session = new VaultSession(vault, clock, { warn: () => undefined }, login);
  const first = session.run('first', reading('first'));
  await new Promise(setImmediate);
  await vault.login('one');
  await vault.answer('first', {});
  await first;
});

describe('a refusal', () => {
  it('does not log in again when another request has logged in since the refusal', async () => {
    const both = Promise.all(['a', 'b'].map((path) => session.run(path, reading(path))));
    await new Promise(setImmediate);
    await vault.answer('a', DEAD);
    await vault.login('two');
    await vault.answer('b', DEAD);
    expect(await vault.answer('a', { detail: 'of a' })).toMatchObject({ token: 'two' });
    expect(await vault.answer('b', { detail: 'of b' })).toMatchObject({ token: 'two' });
    expect(await both).toEqual(['of a', 'of b']);
    expect(vault.waiting).toEqual([]);
  });

  it('logs in after the refusal of a dead token, also where the one before was denied', async () => {
    const denied = session.run('a', reading('a')).catch((error: unknown) => error);
    await new Promise(setImmediate);
    await vault.answer('a', DENIED);
    await vault.login('two');
    await vault.answer('a', DENIED);
    expect(await denied).toMatchObject({ code: 'access_denied' });

    const revoked = session.run('a', reading('a'));
    await new Promise(setImmediate);
    await vault.answer('a', DEAD);
    await vault.login('three');
    await vault.answer('a', { detail: 'of a' });
    expect(await revoked).toBe('of a');
  });

  it('makes no third attempt after a refusal', async () => {
    const refused = session.run('a', reading('a')).catch((error: unknown) => error);
    await new Promise(setImmediate);
    await vault.answer('a', DEAD);
    await vault.login('two');
    await vault.answer('a', DEAD);
    expect(await refused).toMatchObject({ code: 'authentication_failed' });
    expect(vault.waiting).toEqual([]);
  });
});

describe('a renewal', () => {
  beforeEach(async () => {
    clock.advance(41_000);
    const read = session.run('a', reading('a'));
    await new Promise(setImmediate);
    await vault.answer('a', {});
    await read;
  });

  it('keeps a login when a renewal is late', async () => {
    clock.advance(20_000);
    const read = session.run('a', reading('a'));
    await new Promise(setImmediate);
    await vault.login('two');
    await vault.answer('auth/token/renew-self', { body: leaseOf('one') });
    expect(await vault.answer('a', { detail: 'of a' })).toMatchObject({ token: 'two' });
    await read;
    const next = session.run('a', reading('a'));
    await new Promise(setImmediate);
    expect(await vault.answer('a', {})).toMatchObject({ token: 'two' });
    await next;
  });

  it('waits for a renewal when the session closes, and starts no other', async () => {
    let isClosed = false;
    const closing = session.close().then(() => (isClosed = true));
    await new Promise(setImmediate);
    expect(isClosed).toBe(false);
    await vault.answer('auth/token/renew-self', { body: leaseOf('one') });
    await closing;
    clock.advance(41_000);
    const read = session.run('a', reading('a'));
    await new Promise(setImmediate);
    await vault.answer('a', {});
    await read;
    expect(vault.waiting).toEqual([]);
  });
});
