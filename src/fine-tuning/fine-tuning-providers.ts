import type { ResourceProvider } from '../gateway/relay/operation.types.js';
import { azureFineTuning } from './providers/azure-fine-tuning.js';
import { withRequiredFields } from './providers/job-fields.js';
import { bedrockFineTuning } from './providers/bedrock-fine-tuning.js';

/** All providers of fine-tuning, one line each. */
export const FINE_TUNING_PROVIDERS: readonly ResourceProvider[] = [
  { kind: 'relay', slug: 'openai' },
  { kind: 'relay', slug: 'openai-compatible', normalise: withRequiredFields },
  azureFineTuning,
  bedrockFineTuning,
];
