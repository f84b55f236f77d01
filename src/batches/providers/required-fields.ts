// The fields that batches and files always have. Source: https://platform.openai.com/docs/api-reference/batch/object, read 2026-11-26.
import type { JsonObject } from '../../common/json/read.js';

const BATCH: JsonObject = {
  object: 'batch',
  endpoint: null,
  input_file_id: null,
  completion_window: null,
  status: null,
  created_at: null,
};
const FILE: JsonObject = { object: 'file' };

/** The batch with the required fields that its server leaves out. What it has stays, in its order. */
export function withBatchFields(batch: JsonObject): JsonObject {
  return withFields(batch, BATCH);
}

/** The file with the required fields that its server leaves out: clients recognise a file by its `object`. */
export function withFileFields(file: JsonObject): JsonObject {
  return withFields(file, FILE);
}

/** An object without an id stays as it is. */
function withFields(resource: JsonObject, fields: JsonObject): JsonObject {
  const missing = Object.entries(fields).filter(([name]) => resource[name] === undefined);
  const isWhole = missing.length === 0 || typeof resource['id'] !== 'string';
  return isWhole ? resource : { ...resource, ...Object.fromEntries(missing) };
}
