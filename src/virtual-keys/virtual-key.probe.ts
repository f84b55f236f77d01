import { Injectable } from '@nestjs/common';
import type { Principal } from '../access/principal.js';
import { AuditService } from '../audit/audit.service.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { failedTest } from '../secret-references/failed-test.js';
import type { RequestContext } from '../telemetry/request-context.js';
import { answerToError } from '../upstream/provider-error.js';
import { ProviderSender } from '../upstream/provider-sender.js';
import { entryOf } from './audit-entry.js';
import { VirtualKeyCredentials } from './virtual-key.credentials.js';
import { VirtualKeyOpener } from './virtual-key.opener.js';
import type { VirtualKeyTestResponse } from './virtual-key.response.js';
import { VirtualKeyStore } from './virtual-key.store.js';

/** Tells whether the provider accepts the credential of a virtual key. */
@Injectable()
export class VirtualKeyProbe {
  constructor(
    private readonly store: VirtualKeyStore,
    private readonly credentials: VirtualKeyCredentials,
    private readonly opener: VirtualKeyOpener,
    private readonly sender: ProviderSender,
    private readonly audit: AuditService,
  ) {}

  async test(principal: Principal, ref: string, { caller, facts }: RequestContext): Promise<VirtualKeyTestResponse> {
    const row = await this.store.get(principal, ref);
    await this.audit.record(this.store.manager, principal, entryOf('test', row, []));
    const provider = this.credentials.providerOf(row);
    // A provider inside the gateway has nothing that could refuse.
    if (provider.probe === undefined) return { ok: true, latency_ms: 0 };
    const startedAt = performance.now();
    const elapsed = (): number => Math.round(performance.now() - startedAt);
    try {
      const { request, accepts } = provider.probe;
      // Whoever asks wants to know of the secrets as they are now.
      const credential = await this.opener.openAgain(await this.opener.sourceOf(row));
      const answer = await this.sender.send({ provider, credential, request, retry: 'never', caller });
      if (accepts.includes(answer.status)) return { ok: true, latency_ms: elapsed() };
      return { ok: false, latency_ms: elapsed(), ...failedTest(answerToError(answer, provider), facts) };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { ok: false, latency_ms: elapsed(), ...failedTest(error, facts) };
    }
  }
}
