import { LRUCache } from 'lru-cache';
import type { Clock } from '../../common/time/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import { SecretError } from './secret-manager.types.js';
import type { VaultAnswer, VaultHttp, VaultRequest } from './vault-http.js';
import { readLease, type VaultLease, type PrepareLogin } from './vault-login.js';

/** How long a token is left alone after its renewal has failed. */
const RENEWAL_PAUSE_MS = 5_000;
/** How long a path that a new token was refused is not worth another login. */
const DENIAL_MEMORY_MS = 60_000;
const MAX_DENIALS = 1_000;

/** A request that the session gives its token. `isFree`: Vault does not count it as a use of the token. */
export type VaultSend = (request: Omit<VaultRequest, 'token'> & { readonly isFree?: boolean }) => Promise<VaultAnswer>;

/** Vault refused a token: it is dead, or its policies do not allow the request. */
export class VaultTokenRefused extends SecretError {
  readonly isDead: boolean;

  constructor(detail: string) {
    // Vault's words for a token that is unknown, expired or revoked; older versions say "permission denied" alone.
    const isDead = /(?:invalid|bad) token/i.test(detail);
    super(isDead ? 'authentication_failed' : 'access_denied', detail);
    this.isDead = isDead;
  }
}

/**
 * One token of Vault, kept valid. It is renewed when two thirds of its lease are over and it is used: in the
 * background, so that no request waits while it still works.
 */
export class VaultSession {
  /** Until when, by path. */
  private readonly denials = new LRUCache<string, number>({ max: MAX_DENIALS });
  private lease: VaultLease | undefined;
  private login: Promise<VaultLease> | undefined;
  private renewal: Promise<void> | undefined;
  private renewNotBefore = 0;

  /** @param prepareLogin undefined: `lease` is all there is */
  constructor(
    private readonly http: Pick<VaultHttp, 'send'>,
    private readonly clock: Clock,
    private readonly logger: Pick<Logger, 'warn'>,
    private readonly prepareLogin: PrepareLogin | undefined,
    lease?: VaultLease,
  ) {
    this.lease = lease;
  }

  /** Runs work with a token; once more, with a new token, when an old one is refused. */
  async run<Result>(path: string, work: (send: VaultSend) => Promise<Result>): Promise<Result> {
    const known = this.lease?.token;
    let used: VaultLease | undefined;
    const send: VaultSend = async ({ isFree = false, ...request }) => {
      used = await this.take(isFree);
      return this.http.send({ ...request, token: used.token });
    };
    try {
      return await work(send);
    } catch (error) {
      if (!(error instanceof VaultTokenRefused) || used === undefined || this.prepareLogin === undefined) throw error;
      if (used.token !== known) this.denials.set(path, this.now() + DENIAL_MEMORY_MS);
      if (used.token !== known || (!error.isDead && this.isDenied(path))) throw error;
      if (this.lease?.token === used.token) this.lease = undefined;
    }
    return this.runAgain(path, () => work(send));
  }

  /** Ends what runs in the background. */
  async close(): Promise<void> {
    this.renewNotBefore = Infinity;
    await this.renewal;
  }

  private async runAgain<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof VaultTokenRefused) this.denials.set(path, this.now() + DENIAL_MEMORY_MS);
      throw error;
    }
  }

  private isDenied(path: string): boolean {
    return (this.denials.get(path) ?? 0) > this.now();
  }

  /** A lease that is good for one more request. */
  private async take(isFree: boolean): Promise<VaultLease> {
    for (;;) {
      const lease = this.usableLease() ?? (await this.logIn());
      if (isFree || lease.usesLeft === undefined) return lease;
      if (lease.usesLeft > 0) {
        lease.usesLeft -= 1;
        return lease;
      }
      // Used up by those who waited for the same login.
      if (this.lease === lease) this.lease = undefined;
    }
  }

  private usableLease(): VaultLease | undefined {
    const { lease } = this;
    const now = this.now();
    if (lease === undefined || now >= lease.expiresAt || lease.usesLeft === 0) return undefined;
    if (now >= lease.renewAt && now >= this.renewNotBefore) this.renewInBackground(lease);
    return lease;
  }

  private logIn(): Promise<VaultLease> {
    this.login ??= this.sendLogin().finally(() => (this.login = undefined));
    return this.login;
  }

  private async sendLogin(): Promise<VaultLease> {
    if (this.prepareLogin === undefined) throw new SecretError('authentication_failed', 'the token has expired');
    const login = await this.prepareLogin();
    const askedAt = this.now();
    const answer = await this.http.send({ method: 'POST', ...login });
    // A role that does not exist is 400 or 403, a mount that does not exist 403 or 404.
    if (answer.status >= 300) throw new SecretError('authentication_failed', answer.detail);
    this.lease = readLease(answer.body, askedAt);
    return this.lease;
  }

  private renewInBackground(lease: VaultLease): void {
    this.renewal ??= this.renew(lease)
      .catch((error: unknown) => {
        this.renewNotBefore = this.now() + RENEWAL_PAUSE_MS;
        const reason = error instanceof SecretError ? error.message : 'unexpected';
        this.logger.warn({ event: 'vault_renewal_failed', reason });
      })
      .finally(() => (this.renewal = undefined));
  }

  private async renew(lease: VaultLease): Promise<void> {
    if (this.prepareLogin === undefined) return;
    const renewed = lease.isRenewable ? await this.sendRenewal(lease) : undefined;
    // A lease that comes back much shorter has nearly reached its longest life: from here on renewals only dwindle.
    if (renewed === undefined || renewed.durationMs < lease.durationMs / 2) await this.logIn();
    else if (this.lease === lease) this.lease = { ...renewed, durationMs: lease.durationMs };
  }

  /** undefined: Vault does not renew it. */
  private async sendRenewal({ token }: VaultLease): Promise<VaultLease | undefined> {
    const askedAt = this.now();
    const answer = await this.http.send({ method: 'POST', path: 'auth/token/renew-self', token, body: {} });
    return answer.status < 300 ? readLease(answer.body, askedAt) : undefined;
  }

  private now(): number {
    return this.clock.monotonic();
  }
}
