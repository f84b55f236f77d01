import type { ResourceProvider, Sunset } from '../gateway/relay/operation.types.js';

/** OpenAI and Azure OpenAI switched the Assistants API off on 2026-08-26, one year after the announcement. */
const RETIRED: Sunset = {
  deprecation: '@1756166400',
  sunset: 'Wed, 26 Aug 2026 00:00:00 GMT',
  link: 'https://platform.openai.com/docs/deprecations',
};

/** All providers of vector stores, which outlive the protocol. */
export const VECTOR_STORE_PROVIDERS: readonly ResourceProvider[] = [
  { kind: 'relay', slug: 'openai' },
  { kind: 'relay', slug: 'azure-openai' },
  { kind: 'relay', slug: 'openai-compatible' },
];

/** All providers of the protocol. Where it is retired, the provider's 404 is forwarded with headers that say so. */
export const ASSISTANTS_PROVIDERS: readonly ResourceProvider[] = [
  { kind: 'relay', slug: 'openai', sunset: RETIRED },
  { kind: 'relay', slug: 'azure-openai', sunset: RETIRED },
  { kind: 'relay', slug: 'openai-compatible' },
];
