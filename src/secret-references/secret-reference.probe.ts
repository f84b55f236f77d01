import { Injectable } from '@nestjs/common';
import type { Principal } from '../access/principal.js';
import { AuditService } from '../audit/audit.service.js';
import { type SecretDocument, SecretError } from './managers/secret-manager.types.js';
import { readSecretValue } from './read-secret-value.js';
import type { SecretReferenceTestResponse } from './secret-reference.response.js';
import { SecretReferenceStore, entryOf } from './secret-reference.store.js';
import { failureReason } from '../upstream/failure-reason.js';
import { SecretResolver } from './secret-resolver.js';
import { accessOf } from './workspace-access.js';

/** Tests whether a secret can be read at this moment, without showing it. */
@Injectable()
export class SecretReferenceProbe {
  constructor(
    private readonly store: SecretReferenceStore,
    private readonly resolver: SecretResolver,
    private readonly audit: AuditService,
  ) {}

  /** @throws GatewayError `not_found` */
  async test(principal: Principal, ref: string): Promise<SecretReferenceTestResponse> {
    const reference = await this.store.get(principal, ref);
    const entry = entryOf('test', reference, accessOf(reference), []);
    await this.audit.record(this.store.rows.manager, principal, entry);
    const startedAt = performance.now();
    const elapsed = (): number => Math.round(performance.now() - startedAt);
    try {
      const document = await this.resolver.fetch(reference);
      assertUsable(document, reference.secretKey);
      return { ok: true, latency_ms: elapsed() };
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      const reason = failureReason(error);
      return { ok: false, latency_ms: elapsed(), error: error.code, ...(reason === undefined ? {} : { reason }) };
    }
  }
}

/** Without a key, mappings may each name a key of it; a text is there or not all the same. */
function assertUsable(document: SecretDocument, secretKey: string | null): void {
  if (secretKey === null && document.kind === 'fields') return;
  const value = readSecretValue(document, { secretKey, valueFormat: 'string' });
  if (value === '') throw new SecretError('key_missing', 'the value is empty');
}
