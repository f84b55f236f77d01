// Answers in OpenAI's form. Source: https://platform.openai.com/docs/api-reference, and for Azure's files
// https://github.com/Azure/azure-rest-api-specs, specification/cognitiveservices/data-plane/AzureOpenAI/authoring/stable/2024-10-21.

const NO_ITEMS = { object: 'list', data: [], first_id: null, last_id: null, has_more: false };

export const NEW_RUN = {
  id: 'run_1',
  object: 'thread.run',
  created_at: 1_711_471_533,
  thread_id: 'thread_1',
  assistant_id: 'asst_1',
  status: 'queued',
  required_action: null,
  last_error: null,
  expires_at: 1_711_472_133,
  started_at: null,
  cancelled_at: null,
  failed_at: null,
  completed_at: null,
  incomplete_details: null,
  model: 'gpt-4o',
  instructions: null,
  tools: [],
  metadata: {},
  usage: null,
  temperature: null,
  top_p: null,
  max_prompt_tokens: null,
  max_completion_tokens: null,
  truncation_strategy: null,
  tool_choice: null,
  response_format: null,
};

export const NEW_BATCH = {
  id: 'batch_1',
  object: 'batch',
  endpoint: '/v1/chat/completions',
  input_file_id: 'file-1',
  completion_window: '24h',
  status: 'validating',
  created_at: 1_711_471_533,
  errors: null,
  request_counts: null,
  metadata: null,
};

export const NEW_JOB = {
  id: 'ftjob-1',
  object: 'fine_tuning.job',
  created_at: 1_711_471_533,
  error: null,
  fine_tuned_model: null,
  finished_at: null,
  hyperparameters: { n_epochs: 'auto' },
  model: 'gpt-4o-mini',
  organization_id: 'org-1',
  result_files: [],
  status: 'validating_files',
  trained_tokens: null,
  training_file: 'file-1',
  validation_file: null,
  seed: 7,
  estimated_finish: null,
  integrations: null,
};

/** Answers of providers of this format: new objects, failed objects and empty lists. */
export const RELAYED_ANSWERS: readonly (readonly [string, string, object])[] = [
  ...['/threads/{thread_id}/runs', '/batches', '/files', '/fine_tuning/jobs'].map(
    (path) => [path, 'nothing', NO_ITEMS] as const,
  ),
  ['/threads/{thread_id}/runs', 'a new run', { ...NO_ITEMS, data: [NEW_RUN], first_id: 'run_1', last_id: 'run_1' }],
  ['/threads/{thread_id}/runs/{run_id}', 'a run', { ...NEW_RUN, truncation_strategy: { type: 'auto' } }],
  ['/batches/{batch_id}', 'a new batch', NEW_BATCH],
  [
    '/batches/{batch_id}',
    'a failed batch',
    { ...NEW_BATCH, errors: { data: [{ code: 'empty_file', message: 'The file is empty.' }] } },
  ],
  ['/fine_tuning/jobs/{fine_tuning_job_id}', 'a new job', NEW_JOB],
  ['/fine_tuning/jobs/{fine_tuning_job_id}', 'a job with an empty error', { ...NEW_JOB, error: {} }],
  ['/fine_tuning/jobs/{fine_tuning_job_id}', 'a job of another method', { ...NEW_JOB, hyperparameters: {} }],
  // Azure OpenAI's list.
  [
    '/files',
    'files',
    {
      data: [{ id: 'file-1', object: 'file', purpose: 'batch', filename: 'a' }],
      object: 'list',
      first_id: 'file-1',
      last_id: 'file-1',
      has_more: false,
    },
  ],
  ['/files/{file_id}', 'a file of unknown size', { id: 'f', object: 'file', bytes: null, purpose: 'a', filename: 'b' }],
];
