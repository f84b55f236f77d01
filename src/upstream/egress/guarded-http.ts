import { Agent } from 'node:https';
import type { HttpModuleOptions } from '@nestjs/axios';
import axios, { type AxiosAdapter, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import { AbortableClient } from '../../common/http/client-connection.js';
import type { UpstreamAnswer, UpstreamHead, UpstreamRequest } from '../upstream.types.js';
import { type Certificates, type SendSingle, upstreamMethod } from './lone-sender.js';

export interface GuardedHttpLimits {
  /** A request may set a shorter timeout, but no longer one. */
  readonly timeoutMs: number;
  readonly maxRequestBytes: number;
  readonly maxResponseBytes: number;
}

/**
 * Settings for Nest's HttpModule that send requests through `send`, and so by the egress rules: without redirects or a
 * proxy of the environment, and with limits on time and sizes. Every status is an answer, with a Buffer as its body.
 * Rejects with UpstreamFailure, which contains nothing of the request, and with axios's CanceledError when `signal`
 * aborts.
 */
export function guardedHttp(send: SendSingle, limits: GuardedHttpLimits): HttpModuleOptions {
  return {
    adapter: adapterOver(send, limits),
    responseType: 'arraybuffer',
    // Otherwise axios sends its own `accept`.
    headers: { accept: false },
    // Our adapter ignores both. They apply if another adapter is ever used.
    maxRedirects: 0,
    proxy: false,
  };
}

function adapterOver(send: SendSingle, limits: GuardedHttpLimits): AxiosAdapter {
  return async (config) => {
    const caller = new AbortableClient();
    const leave = (): void => caller.abort();
    config.signal?.addEventListener?.('abort', leave);
    // The Observables of HttpService cancel by this token, which lives as long as its request.
    void config.cancelToken?.promise.then(leave);
    try {
      const call = {
        request: toUpstreamRequest(config, limits.maxRequestBytes),
        timeoutMs: atMost(limits.timeoutMs, config.timeout),
        maxResponseBytes: atMost(limits.maxResponseBytes, config.maxContentLength),
        caller,
      };
      return toResponse(await send(call, certificatesOf(config)), config);
    } finally {
      config.signal?.removeEventListener?.('abort', leave);
    }
  };
}

/** axios uses 0 and -1 for "no limit". */
function atMost(bound: number, wanted: number | undefined): number {
  return wanted !== undefined && wanted > 0 ? Math.min(bound, wanted) : bound;
}

function toUpstreamRequest(config: InternalAxiosRequestConfig, maxBytes: number): UpstreamRequest {
  const body = toBody(config.data);
  if (body !== undefined && body.length > maxBytes) throw new RangeError(`a request of more than ${maxBytes} bytes`);
  // axios sets a content type for every POST.
  const headers = body === undefined ? config.headers.setContentType(null) : config.headers;
  return {
    method: upstreamMethod((config.method ?? 'get').toUpperCase()),
    url: new URL(axios.getUri(config)),
    headers: Object.fromEntries(
      Object.entries(headers.toJSON(true)).map(([name, value]) => [name.toLowerCase(), value]),
    ),
    body,
  };
}

/** axios has already serialised objects to text. */
function toBody(data: unknown): Buffer | undefined {
  if (data === undefined || data === null) return undefined;
  if (typeof data === 'string' || data instanceof Uint8Array) return Buffer.from(data);
  throw new TypeError('expected a body of text or bytes');
}

function certificatesOf(config: InternalAxiosRequestConfig): Certificates {
  const agent: unknown = config.httpsAgent;
  return agent instanceof Agent ? { ca: agent.options.ca } : {};
}

function toResponse({ status, headers, body }: UpstreamAnswer, config: InternalAxiosRequestConfig): AxiosResponse {
  const named = Object.entries(headers).flatMap(([name, value]) => {
    return value === undefined ? [] : [[name, typeof value === 'string' ? value : [...value]] as const];
  });
  return { status, statusText: '', headers: Object.fromEntries(named), data: body, config };
}

/** The head of an answer to a request through `guardedHttp`. */
export function headOf({ status, headers }: Pick<AxiosResponse, 'status' | 'headers'>): UpstreamHead {
  const entries: readonly [string, unknown][] = Object.entries(headers);
  return { status, headers: Object.fromEntries(entries.filter(isText)) };
}

function isText(entry: readonly [string, unknown]): entry is [string, string | string[]] {
  return typeof entry[1] === 'string' || Array.isArray(entry[1]);
}
