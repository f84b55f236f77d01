/** The states of a batch in OpenAI's API. Source: https://platform.openai.com/docs/api-reference/batch/object */
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

/** One failed request. Providers leave out fields without a value. */
export class BatchErrorResponse {
  /** The code of the error. */
  readonly code?: string | null;
  /** The reason of the error. */
  readonly message?: string | null;
  /** The field that is wrong. */
  readonly param?: string | null;
  /** The line of the input file. */
  readonly line?: number | null;
}

export class BatchErrorsResponse {
  readonly object?: string;
  readonly data?: BatchErrorResponse[];
}

export class BatchRequestCountsResponse {
  /** All requests of the batch. */
  readonly total: number;
  /** Requests that succeeded. */
  readonly completed: number;
  /** Requests that failed. */
  readonly failed: number;
}

/** A batch; every timestamp in Unix seconds. */
export class BatchResponse {
  readonly id: string;
  readonly object: 'batch';
  /** Path that the batch's requests go to. */
  readonly endpoint: string | null;
  /** Why the batch could not start. */
  readonly errors?: BatchErrorsResponse | null;
  /** The file with the requests. */
  readonly input_file_id: string | null;
  /** How long the batch may take. */
  readonly completion_window: string | null;
  /** `validating`, `failed`, `in_progress`, `finalizing`, `completed`, `expired`, `cancelling` or `cancelled`. */
  readonly status: string;
  /** The file with the results of successful requests. */
  readonly output_file_id?: string | null;
  /** The file with the results of failed requests. */
  readonly error_file_id?: string | null;
  /** Unix seconds. */
  readonly created_at: number | null;
  /** Unix seconds. */
  readonly in_progress_at?: number | null;
  /** Unix seconds. */
  readonly expires_at?: number | null;
  /** Unix seconds. */
  readonly finalizing_at?: number | null;
  /** Unix seconds. */
  readonly completed_at?: number | null;
  /** Unix seconds. */
  readonly failed_at?: number | null;
  /** Unix seconds. */
  readonly expired_at?: number | null;
  /** Unix seconds. */
  readonly cancelling_at?: number | null;
  /** Unix seconds. */
  readonly cancelled_at?: number | null;
  /** How many requests of the batch are done. */
  readonly request_counts?: BatchRequestCountsResponse | null;
  /** Your own labels. */
  readonly metadata?: Record<string, string> | null;
}

export class BatchListResponse {
  readonly object: 'list';
  readonly data: BatchResponse[];
  readonly first_id?: string | null;
  readonly last_id?: string | null;
  /** Whether there are more items after `last_id`. */
  readonly has_more: boolean;
}
