import type { HttpModuleOptions } from '@nestjs/axios';
import { NEVER_ABORTED } from '../../common/http/client-connection.js';
import { AppConfig } from '../../config/environment.js';
import type { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { guardedFetch } from '../../upstream/egress/guarded-fetch.js';
import { guardedHttp } from '../../upstream/egress/guarded-http.js';
import { loneSender } from '../../upstream/egress/lone-sender.js';
import type { UpstreamAnswer, UpstreamRequest } from '../../upstream/upstream.types.js';

/** Larger than any manager's largest secret (AWS and Azure: 64 KiB and 25 KiB; Vault: 1 MiB by default). */
const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;
/** Vault's own bound is 32 MiB. What is sent there is a login, with a token of some KiB. */
const MAX_REQUEST_BYTES = 1024 * 1024;

/** For calls to secret managers through Nest's HttpService. */
export function secretHttp(egress: EgressPolicy, timeoutMs: number): HttpModuleOptions {
  return guardedHttp(loneSender(egress, timeoutMs), {
    timeoutMs,
    maxRequestBytes: MAX_REQUEST_BYTES,
    maxResponseBytes: MAX_RESPONSE_BYTES,
  });
}

/** How the SDKs' calls to secret managers leave the gateway: egress rules, no redirects, bounds on time and size. */
export class SecretTransport {
  constructor(
    private readonly egress: EgressPolicy,
    private readonly config: Pick<AppConfig, 'SECRET_MANAGER_TIMEOUT_MS'>,
    /** Trusted instead of the system's certificate authorities; for tests. */
    private readonly extraCa?: string,
  ) {}

  sender(): (request: UpstreamRequest) => Promise<UpstreamAnswer> {
    const timeoutMs = this.config.SECRET_MANAGER_TIMEOUT_MS;
    const send = loneSender(this.egress, timeoutMs);
    return (request) => {
      const call = { request, timeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES, caller: NEVER_ABORTED };
      return send(call, { ca: this.extraCa });
    };
  }

  fetchWith(): typeof fetch {
    return guardedFetch(this.egress, {
      timeoutMs: this.config.SECRET_MANAGER_TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      ca: this.extraCa,
    });
  }
}
