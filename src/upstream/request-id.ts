import { firstHeader } from './upstream-headers.js';
import type { UpstreamHeaders } from './upstream.types.js';

/** OpenAI and most others; Amazon; Azure's API management. */
const NAMES = ['x-request-id', 'x-amzn-requestid', 'apim-request-id'] as const;
const ID = /^[\x21-\x7e]{1,128}$/;

/** The provider's own id of a request, which its support asks for. */
export function requestIdOf(headers: UpstreamHeaders): string | undefined {
  for (const name of NAMES) {
    const id = firstHeader(headers, name);
    if (id !== undefined && ID.test(id)) return id;
  }
  return undefined;
}
