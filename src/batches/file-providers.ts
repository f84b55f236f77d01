import type { ResourceProvider } from '../gateway/relay/operation.types.js';

/** Bedrock has none: its batches read and write S3. */
export const FILE_PROVIDERS: readonly ResourceProvider[] = [
  { kind: 'relay', slug: 'openai' },
  { kind: 'relay', slug: 'openai-compatible' },
  { kind: 'relay', slug: 'azure-openai' },
];
