import { Injectable } from '@nestjs/common';
import type { Principal } from '../access/principal.js';
import { AppConfig } from '../config/environment.js';
import { runTest } from '../secret-references/mapped-resource/run-test.js';
import type { RequestContext } from '../telemetry/request-context.js';
import { providerCall } from '../upstream/provider-call.js';
import {
  answerToError,
  errorInAnswer,
  parseProviderJson,
  shapeToError,
  throwAsGatewayError,
} from '../upstream/provider-error.js';
import type { UpstreamAnswer } from '../upstream/upstream.types.js';
import { UpstreamClient } from '../upstream/upstream-client.js';
import { secretsOf } from '../upstream/without-secrets.js';
import { mappedOptions } from './provider-fields.js';
import { VirtualKeyCredentials } from './virtual-key.credentials.js';
import type { VirtualKeyTestResponse } from './virtual-key.response.js';
import { VirtualKeyStore } from './virtual-key.store.js';

/** Asks the provider whether it accepts the credential of a virtual key. */
@Injectable()
export class VirtualKeyProbe {
  constructor(
    private readonly store: VirtualKeyStore,
    private readonly credentials: VirtualKeyCredentials,
    private readonly client: UpstreamClient,
    private readonly config: AppConfig,
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
      const source = await this.credentials.sourceOf(row);
      const credential = await this.credentials.open(source, 'fresh');
      const call = providerCall({ provider, credential }, request, this.config);
      const answer = await this.client
        .send({ ...call, retry: 'never', caller, holder: row })
        .catch(throwAsGatewayError);
      const hidden = { secrets: secretsOf(provider, credential, mappedOptions(source.mappings)) };
      if (!accepts.includes(answer.status)) throw answerToError(answer, provider, hidden);
      const error = answer.status < 300 ? errorInAnswer(answer, provider, hidden, false) : undefined;
      if (error !== undefined) throw error;
      // A log-in page of a proxy has the status of a success.
      if (answer.status < 300) assertJson(answer);
      return {};
    });
  }
}

/** @throws GatewayError `provider_invalid_response` */
function assertJson(answer: UpstreamAnswer): void {
  try {
    parseProviderJson(answer);
  } catch (error) {
    throw shapeToError(error);
  }
}
