/** Providers leave out what they have nothing to say about. */
export class BatchErrorResponse {
  readonly code?: string | null;
  readonly message?: string | null;
  readonly param?: string | null;
  readonly line?: number | null;
}

export class BatchErrorsResponse {
  readonly object?: string;
  readonly data?: BatchErrorResponse[];
}

export class BatchRequestCountsResponse {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
}

/** A batch; every timestamp in Unix seconds. */
export class BatchResponse {
  readonly id: string;
  readonly object: 'batch';
  /** Path that the batch's requests go to. */
  readonly endpoint: string | null;
  readonly errors?: BatchErrorsResponse | null;
  readonly input_file_id: string | null;
  readonly completion_window: string | null;
  /** `validating`, `failed`, `in_progress`, `finalizing`, `completed`, `expired`, `cancelling` or `cancelled`. */
  readonly status: string;
  readonly output_file_id?: string | null;
  readonly error_file_id?: string | null;
  readonly created_at: number | null;
  readonly in_progress_at?: number | null;
  readonly expires_at?: number | null;
  readonly finalizing_at?: number | null;
  readonly completed_at?: number | null;
  readonly failed_at?: number | null;
  readonly expired_at?: number | null;
  readonly cancelling_at?: number | null;
  readonly cancelled_at?: number | null;
  readonly request_counts?: BatchRequestCountsResponse | null;
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
