import type { Request } from 'express';
import type { ProviderOperation } from '../gateway/provider-call.service.js';
import type { UpstreamAnswer } from '../upstream/upstream.types.js';
import type { RelayedRequest } from './dialects/dialect.types.js';

/** Where a call goes, and what of its caller's it takes along. */
export interface Target {
  readonly path: string;
  readonly query: Readonly<Record<string, string>> | undefined;
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
    request: { method: 'POST', path, ...(query && { query }), headers, bytes },
    retry: 'connect',
    noteRefusal,
  };
}

/** A compressed body in which nothing was changed goes on as it is. */
export function asItCame({ encodedBody }: Request, target: Target): Target {
  if (encodedBody === undefined || encodedBody.json !== target.bytes) return target;
  const { bytes, coding } = encodedBody;
  return { ...target, bytes, headers: { ...target.headers, 'content-encoding': coding } };
}
