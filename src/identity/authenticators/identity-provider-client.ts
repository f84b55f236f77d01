import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../common/time/clock.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { guardedFetch } from '../../upstream/egress/guarded-fetch.js';
import { RemoteKeySet } from '../../upstream/identity-provider/remote-key-set.js';
import { UnexpectedStatusError } from '../../upstream/identity-provider/unexpected-status.error.js';

const TIMEOUT_MS = 5_000;
const MAX_RESPONSE_BYTES = 256 * 1024;
const MAX_KEY_SETS = 1_000;

/** Requests to identity providers. Servers with the same key set share one client. */
@Injectable()
export class IdentityProviderClient {
  private readonly keySets = new LRUCache<string, RemoteKeySet>({ max: MAX_KEY_SETS });
  private readonly fetch: typeof fetch;

  constructor(
    egress: EgressPolicy,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {
    this.fetch = guardedFetch(egress, { timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_RESPONSE_BYTES });
  }

  keySetAt(url: string): RemoteKeySet {
    const known = this.keySets.get(url);
    if (known !== undefined) return known;
    const client = new RemoteKeySet(url, { fetchGuarded: this.fetch, clock: this.clock, logger: this.logger });
    this.keySets.set(url, client);
    return client;
  }

  /** Sends a form (RFC 6749, appendix B). Rejects unless the answer is JSON with status 200. */
  async postForm(url: string, form: URLSearchParams, authorization: string): Promise<unknown> {
    const response = await this.fetch(url, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        authorization,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: form.toString(),
    });
    if (response.status !== 200) throw new UnexpectedStatusError(response.status);
    return response.json();
  }
}
