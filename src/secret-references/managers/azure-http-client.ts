import type { SecretClientOptions } from '@azure/keyvault-secrets';
import { UpstreamFailure } from '../../upstream/upstream.types.js';

export type AzureHttpClient = NonNullable<SecretClientOptions['httpClient']>;
type AzureRequest = Parameters<AzureHttpClient['sendRequest']>[0];
type AzureSignal = AzureRequest['abortSignal'];

/** An answer as it came, for the reading of errors: the SDK keeps little of it. */
export interface AzureAnswer {
  readonly status: number;
  readonly text: string;
}

export interface AzureTraffic {
  answered(answer: AzureAnswer): void;
  failed(failure: UpstreamFailure): void;
}

// The SDK would have us take compressed answers, and unpacks them without a bound. Lengths are set again for the body.
const NOT_SENT = ['accept-encoding', 'content-length', 'connection', 'host'] as const;
// The SDK waits as long as these say, however long: without them a 429 is not tried again, and a 503 soon.
const HIDDEN = ['retry-after', 'retry-after-ms', 'x-ms-retry-after-ms'] as const;

/**
 * The network of the Azure SDK, led through the gateway's own `fetch` and held to some origins: whatever a challenge or a
 * discovery document says, a credential goes nowhere else. Rejects with UpstreamFailure.
 */
export function azureHttpClient(
  send: typeof fetch,
  origins: readonly string[],
  traffic?: AzureTraffic,
): AzureHttpClient {
  return {
    async sendRequest(request) {
      try {
        const response = await send(...toFetch(request, origins));
        const answer = { status: response.status, text: await response.text() };
        traffic?.answered(answer);
        for (const name of HIDDEN) response.headers.delete(name);
        return {
          request,
          status: answer.status,
          headers: new AzureHeaders(response.headers),
          bodyAsText: answer.text,
        };
      } catch (error) {
        if (error instanceof UpstreamFailure) traffic?.failed(error);
        throw error;
      }
    },
  };
}

function toFetch(request: AzureRequest, origins: readonly string[]): Parameters<typeof fetch> {
  const url = new URL(request.url);
  if (!origins.includes(url.origin)) {
    throw new UpstreamFailure(
      'refused_by_egress',
      `a request for ${origins.join(', ')} would have gone to ${url.host}`,
    );
  }
  const { body, method } = request;
  if (typeof body !== 'string' && body !== undefined && body !== null) throw new TypeError('expected a body of text');
  const headers = new Headers(request.headers.toJSON());
  for (const name of NOT_SENT) headers.delete(name);
  return [url, { method, headers, body, signal: toSignal(request.abortSignal) }];
}

function toSignal(signal: AzureSignal): AbortSignal | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  if (signal.aborted) controller.abort();
  else signal.addEventListener('abort', () => controller.abort());
  return controller.signal;
}

/** The SDK's own kind of headers. */
class AzureHeaders {
  constructor(private readonly headers: Headers) {}

  get(name: string): string | undefined {
    return this.headers.get(name) ?? undefined;
  }

  has(name: string): boolean {
    return this.headers.has(name);
  }

  set(name: string, value: string | number | boolean): void {
    this.headers.set(name, String(value));
  }

  delete(name: string): void {
    this.headers.delete(name);
  }

  toJSON(): Record<string, string> {
    return Object.fromEntries(this.headers);
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.headers[Symbol.iterator]();
  }
}
