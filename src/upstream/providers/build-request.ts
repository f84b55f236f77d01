import { LRUCache } from 'lru-cache';
import { GatewayError, invalidField } from '../../common/errors/gateway.error.js';
import { VISIBLE_ASCII } from '../../common/constants.js';
import type { UpstreamRequest } from '../upstream.types.js';
import type { Credential, ProviderRequest } from './provider.types.js';

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** Builds a JSON request. `credentialHeaders` take precedence: no request may replace the credential. */
export function buildRequest(
  url: URL,
  request: ProviderRequest,
  credentialHeaders: Readonly<Record<string, string>>,
): UpstreamRequest {
  const body =
    request.bytes ?? (request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body), 'utf8'));
  const headers: Record<string, string> = {};
  // Field by field, since a spread creates objects of ever new shapes, which are slow to use.
  for (const [name, value] of Object.entries(request.headers ?? NO_HEADERS)) headers[name] = value;
  headers['accept'] = 'application/json';
  headers['user-agent'] = 'tollgate';
  if (body !== undefined) headers['content-type'] = 'application/json';
  for (const [name, value] of Object.entries(credentialHeaders)) headers[name] = value;
  return { method: request.method, url, headers, body };
}

export function bearer(credential: Pick<Credential, 'key'>): { readonly authorization: string } {
  return { authorization: `Bearer ${headerKey(credential)}` };
}

/**
 * The key as a header value. Throws `secret_unavailable` for a line break, for example, which would fail later in the
 * HTTP client.
 */
export function headerKey(credential: Pick<Credential, 'key'>): string {
  const { key } = credential;
  if (key === undefined || !VISIBLE_ASCII.test(key)) {
    const reason = 'the key is missing, or has characters that no header takes (a line break at its end?)';
    throw new GatewayError('secret_unavailable', { reason });
  }
  return key;
}

export const MAX_BASE_URL_CHARACTERS = 2_048;

const VERSION_AT_END = /\/v\d+$/;
const VERSION_AT_START = /^\/v\d+(?=\/|$)/;
/**
 * `.` and `..` as whole segments, in every encoding. The URL API or the server would resolve them and leave the base's
 * path.
 */
const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\]|%2f|%5c|$)/i;

/**
 * Parses a base URL: absolute, http(s), without userinfo, query or fragment; otherwise undefined. The egress rules
 * apply later.
 */
export function parseBaseUrl(text: string): URL | undefined {
  if (text.length > MAX_BASE_URL_CHARACTERS || /[\s?#\\]/.test(text) || !/^https?:\/\//i.test(text)) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.username === '' && url.password === '' ? url : undefined;
}

/** Parsed URLs, shared by all calls, since parsing one per call is expensive. They must never be changed. */
const bases = new LRUCache<string, URL>({ max: 1_000 });
const addresses = new WeakMap<URL, Map<string, URL>>();
/** Paths may contain ids, but few paths repeat often. */
const ADDRESSES_PER_BASE = 16;

/**
 * The virtual key's own base URL, or else the provider's. Validated again, since a secret reference may have supplied
 * it.
 */
export function baseUrl(options: { readonly base_url?: string }, providerDefault?: string): URL {
  const text = options.base_url ?? providerDefault;
  if (text === undefined) throw new GatewayError('secret_unavailable', { reason: 'config.base_url is missing' });
  const known = bases.get(text);
  if (known !== undefined) return known;
  const url = parseBaseUrl(text);
  if (url === undefined)
    throw new GatewayError('secret_unavailable', { reason: 'config.base_url is not a usable URL' });
  bases.set(text, url);
  return url;
}

/**
 * Appends path and query to the base, and keeps its host and path prefix. A version at the start of the path replaces
 * one at the end of the base, so `https://host` and `https://host/v1` mean the same for `/v1/rerank`.
 */
export function joinUrl(base: URL, { path, query }: Pick<ProviderRequest, 'path' | 'query'>): URL {
  const known = addresses.get(base)?.get(path);
  const url = known ?? appendPath(base, path);
  if (known === undefined) remember(base, path, url);
  return query === undefined || Object.keys(query).length === 0 ? url : withQuery(url, query);
}

function appendPath(base: URL, path: string): URL {
  if (!path.startsWith('/') || DOT_SEGMENT.test(path)) throw invalidField('path', 'must not have dot segments');
  const prefix = pathPrefix(base);
  const url = new URL(base);
  url.pathname = (VERSION_AT_START.test(path) ? prefix.replace(VERSION_AT_END, '') : prefix) + path;
  return url;
}

/** Identifies a server: equal for two bases that differ only in a version at the end. */
export function serverOf(base: URL): string {
  return base.origin + pathPrefix(base).replace(VERSION_AT_END, '');
}

function remember(base: URL, path: string, url: URL): void {
  const known = addresses.get(base) ?? new Map<string, URL>();
  if (known.size < ADDRESSES_PER_BASE) addresses.set(base, known.set(path, url));
}

function withQuery(address: URL, query: Readonly<Record<string, string | readonly string[]>>): URL {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) {
    if (typeof value === 'string') url.searchParams.set(name, value);
    else for (const each of value) url.searchParams.append(name, each);
  }
  return url;
}

/** The base's path without trailing slashes; empty for a bare origin. */
export function pathPrefix(base: URL): string {
  return base.pathname.replace(/\/+$/, '');
}
