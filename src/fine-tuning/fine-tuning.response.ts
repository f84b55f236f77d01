import { ApiProperty } from '@nestjs/swagger';

/** Has no fields, or only nulls, while nothing has failed. */
export class FineTuningErrorResponse {
  readonly code?: string | null;
  readonly message?: string | null;
  readonly param?: string | null;
}

export class HyperparametersResponse {
  /** Number of epochs, or `auto`. Only jobs of some methods have it. */
  @ApiProperty({ oneOf: [{ type: 'string' }, { type: 'integer', format: 'int64' }], nullable: true })
  readonly n_epochs?: string | number | null;
}

export class ExperimentTrackingResponse {
  readonly project: string;
  readonly name?: string | null;
  readonly entity?: string | null;
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
  readonly result_files: string[];
  /** `validating_files`, `queued`, `running`, `succeeded`, `failed` or `cancelled`. */
  readonly status: string;
  /** Billable tokens; null while the job is running. */
  readonly trained_tokens: number | null;
  /** null in Bedrock's lists, which do not name it. */
  readonly training_file: string | null;
  readonly validation_file: string | null;
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
