import { Inject, Injectable } from '@nestjs/common';
import type { MaybePromise } from '../common/maybe-promise.js';
import { describeDefect } from '../common/errors/describe-error.js';
import { StaleWhileRevalidateCache } from '../database/stale-while-revalidate.cache.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { type CompiledPolicies, compilePolicies } from './compiled-policies.js';
import { PolicyStore } from './policy.store.js';

/** The active policies, by organisation. */
@Injectable()
export class PolicyCache {
  private readonly policies: StaleWhileRevalidateCache<CompiledPolicies>;
  /** Ids of unreadable policies that were already logged, since policies are read every second. */
  private readonly told = new Set<string>();

  constructor(
    store: PolicyStore,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'error'>,
  ) {
    this.policies = new StaleWhileRevalidateCache<CompiledPolicies>(async (organisationId) => {
      const compiled = compilePolicies(await store.active(organisationId));
      this.tell(compiled);
      return compiled;
    });
  }

  /**
   * In the order of their creation.
   * @param now Unix milliseconds
   * @throws the database's error when the policies were never read
   */
  policiesOf(organisationId: string, now: number): MaybePromise<CompiledPolicies> {
    return this.policies.get(organisationId, now);
  }

  /** After a change on this replica. */
  forget(organisationId: string): void {
    this.policies.forget(organisationId);
  }

  private tell({ unreadable }: CompiledPolicies): void {
    for (const { id, cause } of unreadable) {
      if (this.told.has(id)) continue;
      this.told.add(id);
      this.logger.error({ event: 'policy_unreadable', policy_id: id, error: describeDefect(cause) });
    }
  }
}
