import type { ResourceProvider, Sunset } from '../gateway/relay/operation.types.js';

/** OpenAI switched the Assistants API off on 2026-08-26, one year after it said so; Azure OpenAI did on the same day. */
const RETIRED: Sunset = {
  deprecation: '@1756166400',
  sunset: 'Wed, 26 Aug 2026 00:00:00 GMT',
  link: 'https://platform.openai.com/docs/deprecations',
};

/** Every provider that speaks the protocol. Where it is retired the provider's own 404 is passed on, with headers that say so. */
export const ASSISTANTS_PROVIDERS: readonly ResourceProvider[] = [
  { kind: 'relay', slug: 'openai', sunset: RETIRED },
  { kind: 'relay', slug: 'azure-openai', sunset: RETIRED },
  { kind: 'relay', slug: 'openai-compatible' },
];
