// Fine-tuning at Azure OpenAI. Source: https://github.com/Azure/azure-rest-api-specs, specification/cognitiveservices/data-plane/AzureOpenAI/authoring/stable/2024-10-21, read 2026-11-21.
import { isObject, type JsonObject, stringOrUndefined } from '../../common/json/read.js';
import type { ResourceProvider } from '../../gateway/relay/operation.types.js';

/** Azure's own states, those of older versions of its API, and the other spelling. */
const STATUSES: ReadonlyMap<string | undefined, string> = new Map([
  ['created', 'queued'],
  ['notRunning', 'queued'],
  ['pending', 'queued'],
  ['canceled', 'cancelled'],
]);

/** The required fields of the interface. */
const ABSENT: JsonObject = {
  id: null,
  object: 'fine_tuning.job',
  created_at: null,
  error: { code: null, message: null, param: null },
  fine_tuned_model: null,
  finished_at: null,
  model: null,
  result_files: [],
  status: null,
  trained_tokens: null,
  training_file: null,
  validation_file: null,
  seed: null,
};

export const azureFineTuning: ResourceProvider & { readonly kind: 'relay' } = {
  kind: 'relay',
  slug: 'azure-openai',
  normalise(job) {
    const { status } = job;
    return {
      // The first spread keeps Azure's order of the fields, the last one Azure's values.
      ...job,
      ...ABSENT,
      ...job,
      status: STATUSES.get(stringOrUndefined(status)) ?? status ?? null,
      hyperparameters: toHyperparameters(job['hyperparameters']),
      // The dated API spells it the British way.
      organization_id: job['organization_id'] ?? job['organisation_id'] ?? null,
    };
  },
};

/** Azure writes -1 for what it chooses itself. */
function toHyperparameters(given: unknown): JsonObject {
  if (!isObject(given)) return { n_epochs: null };
  const { n_epochs: epochs } = given;
  return { ...given, n_epochs: epochs === -1 ? 'auto' : (epochs ?? null) };
}
