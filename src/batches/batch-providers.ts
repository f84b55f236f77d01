import type { ResourceProvider } from '../gateway/relay/operation.types.js';
import { azureBatches } from './providers/azure-batches.js';
import { bedrockBatches } from './providers/bedrock-batches.js';
import { withBatchFields, withFileFields } from './providers/required-fields.js';

/** All providers of batches, one line each. */
export const BATCH_PROVIDERS: readonly ResourceProvider[] = [
  { kind: 'relay', slug: 'openai' },
  { kind: 'relay', slug: 'openai-compatible', normalise: withBatchFields },
  azureBatches,
  bedrockBatches,
];

/** All providers of files. Bedrock has no files: its batches read and write S3. */
export const FILE_PROVIDERS: readonly ResourceProvider[] = [
  { kind: 'relay', slug: 'openai' },
  { kind: 'relay', slug: 'openai-compatible', normalise: withFileFields },
  { kind: 'relay', slug: 'azure-openai', normalise: withFileFields },
];
