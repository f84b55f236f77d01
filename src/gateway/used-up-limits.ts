import { Injectable } from '@nestjs/common';
import { refusalOf } from './limit-refusal.js';
import type { ProviderContext } from './provider-context.decorator.js';
import { LimitStates } from './routing/limit-states.js';
import { factsOf, type NamedUse } from './usage-meter.js';

/** Checks the usage limits of calls that are not metered, because the provider charges for them later. */
@Injectable()
export class UsedUpLimits {
  constructor(private readonly limits: LimitStates) {}

  /**
   * Reserves nothing. Any room that is left admits the call, whatever it will cost.
   * @throws GatewayError `usage_limit_exceeded`, `usage_limit_unreadable`
   */
  async assertRoom(context: ProviderContext, use: NamedUse): Promise<void> {
    const states = await this.limits.of(context.principal.organisationId, factsOf(context, use));
    const full = states.filter(({ bucket }) => bucket.used >= bucket.limit);
    if (full.length === 0) return;
    context.request.facts.limit_decision = 'exceeded';
    const failing = full.map(({ bucket }) => bucket);
    throw refusalOf(
      { kind: 'exceeded', failing },
      full.map(({ charge }) => charge),
      full.map(({ policy }) => policy),
    );
  }
}
