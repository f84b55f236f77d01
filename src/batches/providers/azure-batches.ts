// Batches of Azure OpenAI. Source: https://github.com/Azure/azure-rest-api-specs, specification/cognitiveservices/data-plane/AzureOpenAI/authoring/stable/2024-10-21, read 2026-11-21.
import { isObject, type JsonObject } from '../../common/json/read.js';
import type { ResourceProvider } from '../../gateway/relay/operation.types.js';
import { fromProviderStatus } from '../../gateway/relay/provider-status.js';
import { BATCH_STATUSES, type BatchStatus } from '../batch.response.js';

/** In lower case: OpenAI's own words, those of long-running operations in older versions, and the other spelling. */
const STATUSES: ReadonlyMap<string, BatchStatus> = new Map([
  ...BATCH_STATUSES.map((status) => [status, status] as const),
  ['created', 'validating'],
  ['notrunning', 'validating'],
  ['pending', 'validating'],
  ['running', 'in_progress'],
  ['succeeded', 'completed'],
  ['canceling', 'cancelling'],
  ['canceled', 'cancelled'],
]);

/** Every field of a batch in OpenAI's API. */
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
  normalise: (batch) => ({
    // The first spread keeps the order of Azure's fields, the last one keeps Azure's values.
    ...batch,
    ...ABSENT,
    ...batch,
    ...fromProviderStatus(batch['status'], STATUSES, 'in_progress'),
    errors: toErrors(batch['errors']),
  }),
};

/** Azure documents `data` as one error instead of a list, and its `line` as text. */
function toErrors(errors: unknown): unknown {
  if (!isObject(errors)) return null;
  const { data } = errors;
  const items: readonly unknown[] = Array.isArray(data) ? data : isObject(data) ? [data] : [];
  return { ...errors, object: 'list', data: items.map((item) => (isObject(item) ? withLine(item) : item)) };
}

function withLine(error: JsonObject): JsonObject {
  const { line } = error;
  return typeof line === 'string' ? { ...error, line: /^\d{1,15}$/.test(line) ? Number(line) : null } : error;
}
