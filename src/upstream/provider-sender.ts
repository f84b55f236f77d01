import { Injectable } from '@nestjs/common';
import type { CallerPresence } from '../common/http/caller-presence.js';
import { AppConfig } from '../config/environment.js';
import { failureToError } from './provider-error.js';
import { UpstreamClient } from './upstream-client.js';
import { type RetryMode, type UpstreamAnswer, type UpstreamAttempt, UpstreamFailure } from './upstream.types.js';
import type { Credential, Vendor, VendorRequest } from './vendors/vendor.types.js';

export interface ProviderRequest {
  readonly vendor: Vendor;
  readonly credential: Credential;
  readonly request: VendorRequest;
  readonly retry: RetryMode;
  readonly caller: CallerPresence;
  readonly onAttempt?: (attempt: UpstreamAttempt) => void;
}

/** Sends a request to a provider: the vendor adds address and credential, the client does the rest. */
@Injectable()
export class ProviderSender {
  constructor(
    private readonly client: UpstreamClient,
    private readonly config: AppConfig,
  ) {}

  /**
   * The provider's answer, whatever its status.
   * @throws GatewayError `provider_failed`, `provider_timeout`, `provider_invalid_response`, `secret_unavailable`
   * @throws UpstreamFailure `caller_gone`: nobody is left to answer
   */
  async send({ vendor, credential, request, retry, caller, onAttempt }: ProviderRequest): Promise<UpstreamAnswer> {
    try {
      return await this.client.send({
        request: vendor.address(request, credential),
        timeoutMs: credential.options.timeout_ms ?? this.config.PROVIDER_TIMEOUT_MS,
        maxResponseBytes: this.config.PROVIDER_MAX_RESPONSE_BYTES,
        retry,
        caller,
        sign: vendor.signer?.(credential),
        onAttempt,
      });
    } catch (error) {
      throw error instanceof UpstreamFailure ? failureToError(error) : error;
    }
  }
}
