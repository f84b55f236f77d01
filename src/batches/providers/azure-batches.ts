// Batches of Azure OpenAI. Source: https://github.com/Azure/azure-rest-api-specs, specification/cognitiveservices/data-plane/AzureOpenAI/authoring/stable/2024-10-21, read 2026-11-21.
import { type JsonObject, stringOrUndefined } from '../../common/json/read.js';
import type { ResourceProvider } from '../../gateway/relay/operation.types.js';

/** States of long operations in older versions of the API, and the other spelling. */
const STATUSES: ReadonlyMap<string | undefined, string> = new Map([
  ['created', 'validating'],
  ['notRunning', 'validating'],
  ['pending', 'validating'],
  ['running', 'in_progress'],
  ['succeeded', 'completed'],
  ['canceling', 'cancelling'],
  ['canceled', 'cancelled'],
]);

/** Every field of the interface. */
const ABSENT: JsonObject = {
  id: null,
  object: 'batch',
  endpoint: null,
  errors: null,
  input_file_id: null,
  completion_window: null,
  status: null,
  output_file_id: null,
  error_file_id: null,
  created_at: null,
  in_progress_at: null,
  expires_at: null,
  finalizing_at: null,
  completed_at: null,
  failed_at: null,
  expired_at: null,
  cancelling_at: null,
  cancelled_at: null,
  request_counts: null,
  metadata: null,
};

export const azureBatches: ResourceProvider & { readonly kind: 'relay' } = {
  kind: 'relay',
  slug: 'azure-openai',
  normalise(batch) {
    const { status } = batch;
    // The first spread keeps Azure's order of the fields, the last one Azure's values.
    return { ...batch, ...ABSENT, ...batch, status: STATUSES.get(stringOrUndefined(status)) ?? status ?? null };
  },
};
