// The HTTP API of Vault and OpenBao. Source: https://developer.hashicorp.com/vault/api-docs and
// https://openbao.org/api-docs, read 2026-11-21.
import { validateHeaderValue } from 'node:http';
import type { Agent } from 'node:https';
import type { HttpService } from '@nestjs/axios';
import { isDeeperThan, MAX_JSON_DEPTH } from '../../common/json/scan.js';
import { isObject, type JsonObject, parseForeignJson } from '../../common/json/read.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';
import { scrub } from '../../common/scrub.js';
import { SecretError, TRANSPORT_CODES } from './secret-manager.types.js';

/** Pauses in milliseconds before a node that lags behind (412) is asked again. */
const LAG_PAUSES_MS = [100, 200] as const;

export interface VaultRequest {
  readonly method: 'GET' | 'POST';
  /** Behind `/v1/`, encoded, with its query. */
  readonly path: string;
  readonly token?: string;
  readonly body?: Readonly<Record<string, string>>;
}

/** An answer that depends on what was asked: success, or 400, 401, 403, 404 and 405. */
export interface VaultAnswer {
  readonly status: number;
  readonly body: JsonObject;
  /** Vault's own words on a failure, fit for the log. */
  readonly detail: string;
}

export interface VaultAddress {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly namespace: string | undefined;
  /** Holds the certificate authorities of this Vault, when it has its own. */
  readonly httpsAgent: Agent | undefined;
}

/** Sends single requests to one Vault. What means the same for every request becomes a SecretError here. */
export class VaultHttp {
  constructor(
    private readonly http: Pick<HttpService, 'axiosRef'>,
    private readonly address: VaultAddress,
    /** What no error may repeat, besides the token and the `jwt` of a request. */
    private readonly secrets: readonly string[],
  ) {}

  /** @throws SecretError */
  async send(request: VaultRequest): Promise<VaultAnswer> {
    const say = (text: string): string =>
      scrub(text, [...this.secrets, request.token ?? '', request.body?.['jwt'] ?? '']);
    for (const pauseMs of LAG_PAUSES_MS) {
      const response = await this.exchange(request, say);
      if (response.status !== 412) return readAnswer(response, say);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    return readAnswer(await this.exchange(request, say), say);
  }

  private async exchange(request: VaultRequest, say: (text: string) => string): Promise<RawAnswer> {
    try {
      const { status, data } = await this.http.axiosRef.request<Buffer>({
        method: request.method,
        url: `${this.address.baseUrl}/v1/${request.path}`,
        headers: this.headers(request),
        data: request.body,
        httpsAgent: this.address.httpsAgent,
      });
      return { status, body: data };
    } catch (cause) {
      // Without its cause when it is not a failure of the network: what axios says of a request holds the request.
      if (!(cause instanceof UpstreamFailure)) throw new SecretError('invalid_request', 'the request cannot be sent');
      throw new SecretError(TRANSPORT_CODES[cause.kind], say(failureText(cause)), { cause });
    }
  }

  private headers({ token, body }: VaultRequest): Record<string, string> {
    const { namespace } = this.address;
    const headers = {
      'x-vault-request': 'true',
      ...(token === undefined ? {} : { 'x-vault-token': token }),
      ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    // axios would take out what a header cannot hold, and send another token.
    for (const [name, value] of Object.entries(headers)) validateHeaderValue(name, value);
    return headers;
  }
}

interface RawAnswer {
  readonly status: number;
  readonly body: Buffer;
}

function failureText(failure: UpstreamFailure): string {
  if (failure.kind !== 'redirect') return failure.message;
  return 'the address redirects; name the active node or a load balancer';
}

function readAnswer({ status, body: bytes }: RawAnswer, say: (text: string) => string): VaultAnswer {
  const body = parseObject(bytes);
  const detail = say(`${status}: ${body === undefined ? 'not a JSON object' : messagesOf(body)}`);
  if (status === 412) throw new SecretError('manager_failed', detail);
  if (status === 429) throw new SecretError('throttled', detail);
  // A load balancer without a healthy node answers 503 as well.
  if (status === 503 && /sealed/i.test(detail)) throw new SecretError('sealed', detail);
  if (status >= 500) throw new SecretError('manager_failed', detail);
  if (body === undefined) throw new SecretError('invalid_response', detail);
  if (status < 300 || [400, 401, 403, 404, 405].includes(status)) return { status, body, detail };
  throw new SecretError('manager_failed', detail);
}

/** undefined also for what is nested so deeply that nothing else could handle it. */
function parseObject(bytes: Buffer): JsonObject | undefined {
  if (isDeeperThan(bytes, MAX_JSON_DEPTH)) return undefined;
  const value = parseForeignJson(bytes);
  return isObject(value) ? value : undefined;
}

function messagesOf({ errors, warnings }: JsonObject): string {
  const messages = [errors, warnings].flatMap((list): readonly unknown[] => (Array.isArray(list) ? list : []));
  return messages.filter((message) => typeof message === 'string').join('; ') || 'no reason given';
}
