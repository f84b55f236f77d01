// The fields that batches and files always have. Source: https://platform.openai.com/docs/api-reference/batch/object, read 2026-11-26.
import type { JsonObject } from '../../common/json/read.js';

/** Every field of a batch. */
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

/** The batch with the fields that its server leaves out. What it has stays, in its order. */
export function withBatchFields(batch: JsonObject): JsonObject {
  const missing = Object.entries(ABSENT).filter(([name]) => batch[name] === undefined);
  return missing.length === 0 ? batch : { ...batch, ...Object.fromEntries(missing) };
}

/** The file with `object`, by which clients recognise it. */
export function withFileFields(file: JsonObject): JsonObject {
  return file['object'] === undefined ? { ...file, object: 'file' } : file;
}
