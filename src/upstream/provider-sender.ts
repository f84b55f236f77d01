import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ClientConnection } from '../common/http/client-connection.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { AppConfig } from '../config/environment.js';
import { failureToError } from './provider-error.js';
import { UpstreamClient } from './upstream-client.js';
import {
  type RetryMode,
  type UpstreamAnswer,
  type UpstreamCall,
  UpstreamFailure,
  type RelayedAnswer,
  type UpstreamRelayCall,
  type UpstreamRequest,
  type UpstreamStreamRequest,
} from './upstream.types.js';
import type { Credential, Provider, ProviderRequest, ProviderSigner } from './providers/provider.types.js';

export interface SenderRequest {
  readonly provider: Provider;
  readonly credential: Credential;
  readonly request: ProviderRequest;
  readonly retry: RetryMode;
  /** Milliseconds that are left for it; by default all that the credential allows. */
  readonly timeoutMs?: number;
  readonly attemptsMade?: number;
  readonly caller: ClientConnection;
  readonly beforeAttempt?: UpstreamCall['beforeAttempt'];
  readonly onAttemptStart?: UpstreamCall['onAttemptStart'];
  readonly onAttempt?: UpstreamCall['onAttempt'];
}

/** What tells the receiver how to read a body. */
const BODY_HEADERS = ['content-type', 'content-encoding', 'content-length'] as const;

/** A request body that goes out as it comes in, under its own type, coding and length: the client's request. */
export type Upload = Readable & { readonly headers: Pick<IncomingHttpHeaders, (typeof BODY_HEADERS)[number]> };

/** The bodies of one exchange that pass through as they come. */
export interface ProviderStreams {
  /** Sent instead of the request's own body. */
  readonly upload?: Upload | undefined;
  /** What the client accepts; anything by default. */
  readonly accept?: string | undefined;
  /** Whether `sinkFor` has a sink for streams of events only. */
  readonly takesEvents?: boolean | undefined;
  readonly sinkFor: UpstreamRelayCall['sinkFor'];
}

export type ProviderRelay = Omit<
  SenderRequest,
  'retry' | 'timeoutMs' | 'attemptsMade' | 'beforeAttempt' | 'onAttempt'
> &
  ProviderStreams;

/** Sends a request to a provider: the provider adds address and credential, the client does the rest. */
@Injectable()
export class ProviderSender {
  constructor(
    private readonly client: UpstreamClient,
    private readonly config: AppConfig,
  ) {}

  /** Longest time for a call with this credential, in milliseconds. */
  timeoutMsOf({ options }: Credential): number {
    return options.timeout_ms ?? this.config.PROVIDER_TIMEOUT_MS;
  }

  /**
   * The provider's answer, whatever its status.
   * @throws GatewayError `provider_failed`, `provider_timeout`, `provider_invalid_response`, `secret_unavailable`
   * @throws UpstreamFailure `caller_gone`: nobody is left to answer
   */
  send({
    provider,
    credential,
    request,
    retry,
    timeoutMs = this.timeoutMsOf(credential),
    attemptsMade,
    caller,
    beforeAttempt,
    onAttemptStart,
    onAttempt,
  }: SenderRequest): Promise<UpstreamAnswer> {
    const signer = provider.signer?.(credential);
    const answer = this.client.send({
      request: provider.address(request, credential),
      timeoutMs,
      maxResponseBytes: this.config.PROVIDER_MAX_RESPONSE_BYTES,
      retry,
      attemptsMade,
      caller,
      sign: signer?.sign,
      renewSignature: signer?.renew,
      beforeAttempt,
      onAttemptStart,
      onAttempt,
    });
    return answer.catch(asGatewayError);
  }

  /**
   * The same for bodies that pass through as they come. Never repeated, and its time limit bounds silence, not the whole.
   * @throws what `send` throws, and what `sinkFor` or the upload failed with
   */
  async relay({
    provider,
    credential,
    request,
    caller,
    upload,
    accept,
    takesEvents,
    onAttemptStart,
    sinkFor,
  }: ProviderRelay): Promise<RelayedAnswer> {
    const idleTimeoutMs = this.timeoutMsOf(credential);
    try {
      return await this.client.relay({
        request: withStreams(provider.address(request, credential), upload, accept),
        idleTimeoutMs,
        eventIdleTimeoutMs: takesEvents ? Math.max(idleTimeoutMs, this.config.PROVIDER_STREAM_IDLE_MS) : undefined,
        maxBufferedBytes: this.config.PROVIDER_MAX_RESPONSE_BYTES,
        caller,
        sign: relaySigner(provider.signer?.(credential)),
        onAttemptStart,
        sinkFor,
      });
    } catch (error) {
      return asGatewayError(error);
    }
  }
}

function asGatewayError(error: unknown): never {
  throw error instanceof UpstreamFailure ? failureToError(error) : error;
}

/** Providers know JSON bodies and answers only, so what the client says about its own comes on top. */
function withStreams(addressed: UpstreamRequest, upload: Upload | undefined, accept = '*/*'): UpstreamStreamRequest {
  const headers: Record<string, string> = { ...addressed.headers, accept };
  if (upload === undefined) return { ...addressed, headers };
  for (const name of BODY_HEADERS) {
    const value = upload.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  return { ...addressed, headers, body: upload };
}

function relaySigner(signer: ProviderSigner | undefined): UpstreamRelayCall['sign'] {
  if (signer === undefined) return undefined;
  return async ({ body, ...request }, now) => {
    if (body instanceof Readable) {
      throw new GatewayError('provider_not_supported', { reason: 'the signature covers the body, which is a stream' });
    }
    return signer.sign({ ...request, body }, now);
  };
}
