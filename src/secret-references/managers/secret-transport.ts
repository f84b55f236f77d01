import { AppConfig } from '../../config/environment.js';
import type { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { guardedFetch } from '../../upstream/egress/guarded-fetch.js';

/** Larger than any manager's largest secret (AWS and Azure: 64 KiB and 25 KiB; Vault: 1 MiB by default). */
const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;

/** How every call to a secret manager leaves the gateway: egress rules, no redirects, bounds on time and size. */
export class SecretTransport {
  constructor(
    private readonly egress: EgressPolicy,
    private readonly config: Pick<AppConfig, 'SECRET_MANAGER_TIMEOUT_MS'>,
    /** Trusted besides the system's certificate authorities; for tests. */
    private readonly extraCa?: string,
  ) {}

  /** @param ca certificate authorities (PEM) of the manager, instead of the system's */
  fetchWith(ca: string | undefined = this.extraCa): typeof fetch {
    return guardedFetch(this.egress, {
      timeoutMs: this.config.SECRET_MANAGER_TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      ...(ca === undefined ? {} : { ca }),
    });
  }
}
