import { Inject, Injectable } from '@nestjs/common';
import { describeDefect } from '../common/errors/describe-error.js';
import { StaleWhileRevalidateCache } from '../database/stale-while-revalidate.cache.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { type CompiledPolicies, compilePolicies } from './compiled-policies.js';
import { PolicyStore } from './policy.store.js';

/** The active policies, by organisation and in the order of their creation. */
@Injectable()
export class PolicyCache extends StaleWhileRevalidateCache<CompiledPolicies> {
  constructor(store: PolicyStore, @Inject(LOGGER) logger: Pick<Logger, 'error'>) {
    // Ids of unreadable policies that were already logged, since policies are read every second.
    const logged = new Set<string>();
    super(async (organisationId) => {
      const compiled = compilePolicies(await store.active(organisationId));
      for (const { id, cause } of compiled.unreadable) {
        if (logged.has(id)) continue;
        logged.add(id);
        logger.error({ event: 'policy_unreadable', policy_id: id, error: describeDefect(cause) });
      }
      return compiled;
    });
  }
}
