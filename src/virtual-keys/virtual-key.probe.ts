import { Injectable } from '@nestjs/common';
import type { Principal } from '../access/principal.js';
import { runTest } from '../secret-references/mapped-resource/run-test.js';
import type { RequestContext } from '../telemetry/request-context.js';
import { answerToError } from '../upstream/provider-error.js';
import { ProviderSender } from '../upstream/provider-sender.js';
import { VirtualKeyCredentials } from './virtual-key.credentials.js';
import type { VirtualKeyTestResponse } from './virtual-key.response.js';
import { VirtualKeyStore } from './virtual-key.store.js';

/** Asks the provider whether it accepts the credential of a virtual key. */
@Injectable()
export class VirtualKeyProbe {
  constructor(
    private readonly store: VirtualKeyStore,
    private readonly credentials: VirtualKeyCredentials,
    private readonly sender: ProviderSender,
  ) {}

  async test(principal: Principal, ref: string, { caller, facts }: RequestContext): Promise<VirtualKeyTestResponse> {
    const row = await this.store.get(principal, ref);
    await this.store.record(this.store.manager, principal, 'test', row, []);
    const provider = this.credentials.providerOf(row);
    // A provider inside the gateway has no credential that could be refused.
    if (provider.probe === undefined) return { ok: true, latency_ms: 0 };
    const { request, accepts } = provider.probe;
    return runTest(facts, async () => {
      // The test is about the secrets as they are now.
      const credential = await this.credentials.open(await this.credentials.sourceOf(row), 'fresh');
      const answer = await this.sender.send({ provider, credential, request, retry: 'never', caller });
      if (!accepts.includes(answer.status)) throw answerToError(answer, provider);
      return {};
    });
  }
}
