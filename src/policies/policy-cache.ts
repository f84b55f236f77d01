import { Injectable } from '@nestjs/common';
import { LastKnown } from '../database/last-known.js';
import { type CompiledPolicy, compilePolicy } from './compiled-policy.js';
import { PolicyStore } from './policy.store.js';

/** The policies in force, by organisation. */
@Injectable()
export class PolicyCache {
  private readonly policies: LastKnown<readonly CompiledPolicy[]>;

  constructor(store: PolicyStore) {
    this.policies = new LastKnown<readonly CompiledPolicy[]>(async (organisationId) =>
      (await store.active(organisationId)).map(compilePolicy),
    );
  }

  /**
   * In the order of their creation.
   * @param now Unix milliseconds
   * @throws what the database throws when the policies were never read
   */
  policiesOf(organisationId: string, now: number): readonly CompiledPolicy[] | Promise<readonly CompiledPolicy[]> {
    return this.policies.get(organisationId, now);
  }

  /** After a change on this replica. */
  forget(organisationId: string): void {
    this.policies.forget(organisationId);
  }
}
