import type { Request } from 'express';
import { invalidField } from '../common/errors/gateway.error.js';
import type { ProviderOperation } from '../gateway/provider-call.service.js';
import { API_VERSION } from '../gateway/relay/relay-query.js';
import type { Provider } from '../upstream/providers/provider.types.js';
import type { UpstreamAnswer } from '../upstream/upstream.types.js';
import type { RelayedRequest } from './dialects/dialect.types.js';

/** The path of a call at its provider, and the client's parts of the request. */
export interface Target {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

export function operationOf(
  request: RelayedRequest,
  model: string,
  { path, query, bytes, headers }: Target,
  noteRefusal: (answer: UpstreamAnswer) => void,
): ProviderOperation {
  return {
    operation: request.endpoint,
    model,
    request: { method: 'POST', path, query, headers, bytes },
    retry: 'connect',
    noteRefusal,
  };
}

/** Forwards a compressed body in its original bytes when nothing in it was changed. */
export function withOriginalEncoding({ encodedBody }: Request, target: Target): Target {
  if (encodedBody === undefined || encodedBody.json !== target.bytes) return target;
  const { bytes, coding } = encodedBody;
  return { ...target, bytes, headers: { ...target.headers, 'content-encoding': coding } };
}

const BETA = 'beta';
const VALUE = /^[0-9A-Za-z.-]{1,40}$/;

/**
 * The client's query parameters that the provider knows. Others are ignored.
 * @throws GatewayError `validation_failed` for a malformed value
 */
export function passedQuery(
  { slug }: Pick<RelayedRequest, 'slug'>,
  { hasApiVersion = false, hasBetaMessages = false }: Pick<Provider, 'hasApiVersion' | 'hasBetaMessages'>,
  given: Request['query'],
): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  if (hasApiVersion) note(API_VERSION);
  if (hasBetaMessages && slug === 'anthropic-messages') note(BETA);
  return passed;

  function note(name: string): void {
    const value = given[name];
    if (value === undefined) return;
    if (typeof value !== 'string' || !VALUE.test(value))
      throw invalidField(name, 'must come once, and have 1 to 40 letters, digits, dots and hyphens');
    passed[name] = value;
  }
}
