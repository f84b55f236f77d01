import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { ClientConnection } from '../common/http/client-connection.js';
import type { AppConfig } from '../config/environment.js';
import { assertAllowedHosts } from './allowed-hosts.js';
import type { BaseProviderOptions, Credential, Provider, ProviderRequest } from './providers/provider.types.js';
import type { UpstreamCall, UpstreamRelayCall, UpstreamRequest, UpstreamStreamRequest } from './upstream.types.js';

/** The settings that limit calls to providers. */
type ProviderLimits = Pick<
  AppConfig,
  'PROVIDER_TIMEOUT_MS' | 'PROVIDER_MAX_RESPONSE_BYTES' | 'PROVIDER_STREAM_IDLE_MS'
>;

/** The provider and the credential of a virtual key. */
export interface ProviderTarget {
  readonly provider: Provider;
  readonly credential: Credential;
}

/** The headers that describe a body to its receiver. */
const BODY_HEADERS = ['content-type', 'content-encoding', 'content-length'] as const;

/** The client's request, whose body is forwarded with its own type, coding and length. */
export type Upload = Readable & { readonly headers: Pick<IncomingHttpHeaders, (typeof BODY_HEADERS)[number]> };

/** The streamed bodies of one exchange. */
export interface ProviderStreams {
  /** Sent instead of the request's own body. */
  readonly upload?: Upload | undefined;
  /** The media types that the client accepts. By default, it accepts all. */
  readonly accept?: string | undefined;
  /** Whether `sinkFor` has a sink for streams of events only. */
  readonly takesEvents?: boolean | undefined;
  /** The framing of events for the client; default `server-sent`. */
  readonly eventFraming?: UpstreamRelayCall['eventFraming'];
  /** Longest silence in milliseconds, when the virtual key names none; default: that of every call. */
  readonly defaultTimeoutMs?: number | undefined;
  /**
   * Longest silence between events in milliseconds, unless the virtual key allows a longer one; default: that of the
   * stream of a run.
   */
  readonly eventIdleMs?: number | undefined;
  /** Longest time until the first byte of the answer in milliseconds, when it is shorter. */
  readonly maxFirstByteMs?: number | undefined;
  /** Longest time for the whole call in milliseconds; default: unlimited. */
  readonly maxTotalMs?: number | undefined;
  readonly sinkFor: UpstreamRelayCall['sinkFor'];
  readonly filter?: UpstreamRelayCall['filter'];
  readonly retry?: UpstreamRelayCall['retry'];
  /** The client that waits for the call; by default the client of the request. */
  readonly caller?: ClientConnection | undefined;
}

/** Longest time for a call with this credential, in milliseconds. */
export function timeoutMsOf({ timeout_ms: own }: BaseProviderOptions, limits: ProviderLimits): number {
  return own ?? limits.PROVIDER_TIMEOUT_MS;
}

/** The parts of a call that the target and the settings decide: address, credential, signature, limits. */
export function providerCall(
  { provider, credential }: ProviderTarget,
  request: ProviderRequest,
  limits: ProviderLimits,
): Pick<UpstreamCall, 'request' | 'signer' | 'timeoutMs' | 'maxResponseBytes'> {
  return {
    request: addressed(provider, credential, request),
    signer: provider.signer?.(credential),
    timeoutMs: timeoutMsOf(credential.options, limits),
    maxResponseBytes: limits.PROVIDER_MAX_RESPONSE_BYTES,
  };
}

/** Like `providerCall`, for streamed bodies. Its time limit bounds silence, not the whole call. */
export function providerRelay(
  { provider, credential }: ProviderTarget,
  request: ProviderRequest,
  streams: ProviderStreams,
  limits: ProviderLimits,
): Omit<UpstreamRelayCall, 'caller'> {
  const { upload, accept, takesEvents, defaultTimeoutMs, eventIdleMs, maxFirstByteMs } = streams;
  const own = credential.options.timeout_ms;
  const idleTimeoutMs = own ?? defaultTimeoutMs ?? limits.PROVIDER_TIMEOUT_MS;
  const silenceMs =
    eventIdleMs === undefined
      ? Math.max(idleTimeoutMs, limits.PROVIDER_STREAM_IDLE_MS)
      : Math.max(own ?? 0, eventIdleMs);
  return {
    request: withStreams(addressed(provider, credential, request), upload, accept),
    signer: provider.signer?.(credential),
    idleTimeoutMs: maxFirstByteMs === undefined ? idleTimeoutMs : Math.min(idleTimeoutMs, maxFirstByteMs),
    eventIdleTimeoutMs: takesEvents ? silenceMs : undefined,
    eventFraming: streams.eventFraming,
    maxTotalMs: streams.maxTotalMs,
    maxBufferedBytes: limits.PROVIDER_MAX_RESPONSE_BYTES,
    sinkFor: streams.sinkFor,
    filter: streams.filter,
    retry: streams.retry,
  };
}

function addressed(
  provider: ProviderTarget['provider'],
  credential: ProviderTarget['credential'],
  request: ProviderRequest,
): UpstreamRequest {
  const made = provider.address(request, credential);
  if (credential.allowedHosts !== undefined) assertAllowedHosts(made.url, credential.allowedHosts);
  return made;
}

/** Replaces the headers for JSON, which providers set, by the client's own. */
function withStreams(addressed: UpstreamRequest, upload: Upload | undefined, accept = '*/*'): UpstreamStreamRequest {
  const headers: Record<string, string> = { ...addressed.headers, accept };
  if (upload === undefined) return { ...addressed, headers };
  for (const name of BODY_HEADERS) {
    const value = upload.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  return { ...addressed, headers, body: upload };
}
