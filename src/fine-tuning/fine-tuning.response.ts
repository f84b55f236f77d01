import { ApiProperty } from '@nestjs/swagger';

/** Final states, at which clients stop polling. */
export const ENDED_JOB_STATUSES = ['succeeded', 'failed', 'cancelled'] as const;
/** The states of a fine-tuning job in OpenAI's API. */
export const JOB_STATUSES = ['validating_files', 'queued', 'running', ...ENDED_JOB_STATUSES] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** Has no fields, or only nulls, unless the job failed. */
export class FineTuningErrorResponse {
  /** The code of the error. */
  readonly code?: string | null;
  /** The reason of the failure. */
  readonly message?: string | null;
  /** The field that is wrong. */
  readonly param?: string | null;
}

export class HyperparametersResponse {
  /** Number of epochs, or `auto`. Only jobs of some methods have it. */
  @ApiProperty({ oneOf: [{ type: 'string' }, { type: 'integer', format: 'int64' }], nullable: true })
  readonly n_epochs?: string | number | null;
}

export class ExperimentTrackingResponse {
  /** The project that the run is logged to. */
  readonly project: string;
  /** The name of the run. */
  readonly name?: string | null;
  /** The team or user of the run. */
  readonly entity?: string | null;
  /** Tags of the run. */
  readonly tags?: string[];
}

export class IntegrationResponse {
  /** Kind of the tool; an object of that name holds its settings. */
  readonly type: string;
  readonly wandb?: ExperimentTrackingResponse;
}

/** A fine-tuning job; every timestamp in Unix seconds. */
export class FineTuningJobResponse {
  readonly id: string;
  readonly object: 'fine_tuning.job';
  /** Unix seconds. */
  readonly created_at: number | null;
  /** Why the job failed, for failed jobs. */
  readonly error: FineTuningErrorResponse | null;
  /** null while the job is running. */
  readonly fine_tuned_model: string | null;
  /** null while the job is running. */
  readonly finished_at: number | null;
  readonly hyperparameters: HyperparametersResponse;
  /** The base model. */
  readonly model: string;
  /** The owner. */
  readonly organization_id: string | null;
  /** Files with the results of the job. */
  readonly result_files: string[];
  /** `validating_files`, `queued`, `running`, `succeeded`, `failed` or `cancelled`. */
  readonly status: string;
  /** Billable tokens; null while the job is running. */
  readonly trained_tokens: number | null;
  /** null in Bedrock's lists, which do not name it. */
  readonly training_file: string | null;
  /** The file with the validation data. */
  readonly validation_file: string | null;
  /** The seed of the job. */
  readonly seed: number | null;
  /** At most 5. */
  readonly integrations?: IntegrationResponse[] | null;
  /** null when the job is not running. */
  readonly estimated_finish?: number | null;
}

export class FineTuningJobListResponse {
  readonly object: 'list';
  readonly data: FineTuningJobResponse[];
  readonly first_id?: string | null;
  readonly last_id?: string | null;
  /** Whether there are more items after `last_id`. */
  readonly has_more: boolean;
}
