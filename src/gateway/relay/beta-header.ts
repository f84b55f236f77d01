import type { ApiHeaderOptions } from '@nestjs/swagger';
import { invalidField } from '../../common/errors/gateway.error.js';

const HEADER_TEXT = /^[\x20-\x7e]{1,256}$/;

const VERSION = {
  required: false,
  schema: { type: 'string', pattern: HEADER_TEXT.source },
  example: 'assistants=v2',
} as const;

/** Both names of the header, for the OpenAPI document of routes with a versioned protocol. */
export const BETA_HEADERS: readonly ApiHeaderOptions[] = [
  {
    ...VERSION,
    name: 'Provider-Beta',
    description: 'Version of the protocol. The provider receives it as `OpenAI-Beta`.',
  },
  {
    ...VERSION,
    name: 'OpenAI-Beta',
    description: 'Another name of `Provider-Beta`, which takes precedence when both are sent.',
  },
];

/** Reads the header that becomes `OpenAI-Beta` at the provider. */
export function betaHeader(headers: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const value = headers['provider-beta'] || headers['openai-beta'];
  if (value === undefined || value === '') return {};
  if (typeof value !== 'string' || !HEADER_TEXT.test(value))
    throw invalidField('Provider-Beta', 'must be printable ASCII');
  return { 'openai-beta': value };
}
