// Fine-tuning at Azure OpenAI. Source: https://github.com/Azure/azure-rest-api-specs, specification/cognitiveservices/data-plane/AzureOpenAI/authoring/stable/2024-10-21, read 2026-11-21.
import { isObject, type JsonObject } from '../../common/json/read.js';
import type { ResourceProvider } from '../../gateway/relay/operation.types.js';
import { fromProviderStatus } from '../../gateway/relay/provider-status.js';
import { NO_ERROR, withRequiredFields } from './job-fields.js';
import { ENDED_JOB_STATUSES, JOB_STATUSES, type JobStatus } from '../fine-tuning.response.js';

/** In lower case: OpenAI's own words, Azure's, those of older versions, and the other spelling. */
const STATUSES: ReadonlyMap<string, JobStatus> = new Map([
  ...JOB_STATUSES.map((status) => [status, status] as const),
  ['created', 'queued'],
  ['notrunning', 'queued'],
  ['pending', 'queued'],
  // A paused job can be resumed.
  ['paused', 'queued'],
  ['canceled', 'cancelled'],
  ['deleted', 'cancelled'],
]);
const ENDED: ReadonlySet<string | null> = new Set(ENDED_JOB_STATUSES);

export const azureFineTuning: ResourceProvider & { readonly kind: 'relay' } = {
  kind: 'relay',
  slug: 'azure-openai',
  normalise(job) {
    const { error, result_files: files } = job;
    const status = fromProviderStatus(job['status'], STATUSES, 'running');
    return {
      ...withRequiredFields(job),
      ...status,
      error: isObject(error) ? { ...NO_ERROR, ...error } : NO_ERROR,
      result_files: Array.isArray(files) ? files : [],
      hyperparameters: toHyperparameters(job['hyperparameters']),
      // The dated API uses the British spelling.
      organization_id: job['organization_id'] ?? job['organisation_id'] ?? null,
      ...ofState(job, status.status),
    };
  },
};

/** Fields that only a running job, or only an ended job, can have. */
function ofState(job: JsonObject, status: JobStatus | null): JsonObject {
  if (!ENDED.has(status)) return { fine_tuned_model: null, finished_at: null, trained_tokens: null };
  return 'estimated_finish' in job ? { estimated_finish: null } : {};
}

/** Azure writes -1 for values that it chooses itself. */
function toHyperparameters(given: unknown): JsonObject {
  if (!isObject(given)) return { n_epochs: null };
  const { n_epochs: epochs } = given;
  return { ...given, n_epochs: epochs === -1 ? 'auto' : (epochs ?? null) };
}
