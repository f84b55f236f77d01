// The fields that a fine-tuning job always has. Source: https://platform.openai.com/docs/api-reference/fine-tuning/object, read 2026-11-21.
import type { JsonObject } from '../../common/json/read.js';

export const NO_ERROR: JsonObject = { code: null, message: null, param: null };

const ABSENT: JsonObject = {
  object: 'fine_tuning.job',
  created_at: null,
  error: NO_ERROR,
  fine_tuned_model: null,
  finished_at: null,
  hyperparameters: { n_epochs: null },
  model: null,
  organization_id: null,
  result_files: [],
  status: null,
  trained_tokens: null,
  training_file: null,
  validation_file: null,
  seed: null,
};

/** The job with the required fields that its server leaves out. What it has stays, in its order. */
export function withRequiredFields(job: JsonObject): JsonObject {
  const missing = Object.entries(ABSENT).filter(([name]) => job[name] === undefined);
  return missing.length === 0 ? job : { ...job, ...Object.fromEntries(missing) };
}
