/** The states of a batch, as OpenAI has them. Source: https://platform.openai.com/docs/api-reference/batch/object */
export const BATCH_STATUSES = [
  'validating',
  'failed',
  'in_progress',
  'finalizing',
  'completed',
  'expired',
  'cancelling',
  'cancelled',
] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];
