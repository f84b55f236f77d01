// Bedrock's model-customization job as a fine-tuning job. Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_GetModelCustomizationJob.html, read 2026-11-21.
import { isObject, type JsonObject, readObject, readString, stringOrUndefined } from '../../common/json/read.js';
import { accountOf, type BedrockJobKind, toJobId } from '../../upstream/providers/bedrock/jobs.js';
import { isoToUnixSeconds } from '../../common/time/unix-time.js';
import { toFileId } from '../../upstream/providers/bedrock/s3-file.js';
import type { JobStatus } from '../fine-tuning.response.js';
import { fromBedrockHyperparameters } from './bedrock-hyperparameters.js';

export const CUSTOMIZATION_JOB: BedrockJobKind = {
  idPrefix: 'ftjob-',
  idParam: 'fine_tuning_job_id',
  arn: /^arn:aws(?:-[a-z-]+)?:bedrock:(?<region>[a-z0-9-]{1,20}):(?<account>\d{12}):model-customization-job\/[a-z0-9][a-z0-9.:-]*\/[a-z0-9]{1,64}$/,
  listPath: '/model-customization-jobs',
  listField: 'modelCustomizationJobSummaries',
  jobPath: '/model-customization-jobs',
};

const STATUSES: ReadonlyMap<string, JobStatus> = new Map([
  ['InProgress', 'running'],
  ['Completed', 'succeeded'],
  ['Failed', 'failed'],
  // OpenAI's API has no status for a job that is being stopped: `finished_at` is null until it has ended.
  ['Stopping', 'cancelled'],
  ['Stopped', 'cancelled'],
]);

/** A job, read on its own or from a list, whose items have fewer fields. Fields that AWS leaves out are null. */
export function toFineTuningJob(answer: unknown): JsonObject & { readonly id: string; readonly status: JobStatus } {
  const job = readObject(answer, 'job');
  const arn = readString(job['jobArn'], 'job.jobArn');
  const providerStatus = stringOrUndefined(job['status']);
  const status = toStatus(providerStatus, job['statusDetails']);
  const message = status === 'failed' ? stringOrUndefined(job['failureMessage']) : undefined;
  const hyperparameters = fromBedrockHyperparameters(job['hyperParameters']);
  const customModel = stringOrUndefined(job['outputModelArn']) ?? stringOrUndefined(job['customModelArn']);
  return {
    id: toJobId(CUSTOMIZATION_JOB, arn),
    object: 'fine_tuning.job',
    created_at: isoToUnixSeconds(job['creationTime']),
    error: { code: null, message: message ?? null, param: null },
    fine_tuned_model: status === 'succeeded' ? (customModel ?? null) : null,
    finished_at: isoToUnixSeconds(job['endTime']),
    hyperparameters,
    method: methodOf(job['customizationType'], hyperparameters),
    model: modelId(job['baseModelArn']),
    organization_id: accountOf(CUSTOMIZATION_JOB, arn),
    result_files: [],
    status,
    trained_tokens: null,
    training_file: toFileId(s3Uri(job['trainingDataConfig'])),
    validation_file: toFileId(s3Uri(firstValidator(job['validationDataConfig']))),
    seed: null,
    integrations: null,
    estimated_finish: null,
    tollgate: { provider_status: providerStatus ?? null },
  };
}

/** A job that AWS is stopping, even if its status does not show it yet. */
export function toStoppedJob(answer: unknown): JsonObject {
  const job = toFineTuningJob(answer);
  const ended = job.status === 'succeeded' || job.status === 'failed';
  return ended ? job : { ...job, status: 'cancelled' };
}

/** A status that AWS adds later must neither end a client's polling nor fail whole lists. */
function toStatus(status: string | undefined, details: unknown): JobStatus {
  if (status === undefined) return 'queued';
  const mapped = STATUSES.get(status) ?? 'running';
  return mapped === 'running' ? beforeTraining(details) : mapped;
}

/** OpenAI's API has no method for other types of customization. */
function methodOf(type: unknown, hyperparameters: JsonObject): JsonObject | null {
  return type === 'FINE_TUNING' ? { type: 'supervised', supervised: { hyperparameters } } : null;
}

/** Only some jobs report their steps. */
function beforeTraining(details: unknown): JobStatus {
  const validation = isObject(details) ? details['validationDetails'] : undefined;
  const status = isObject(validation) ? validation['status'] : undefined;
  if (status === 'NotStarted') return 'queued';
  return status === 'InProgress' ? 'validating_files' : 'running';
}

/** `arn:aws:bedrock:us-east-1::foundation-model/<id>`; the ARN itself for a model that was customised before. */
function modelId(arn: unknown): string | null {
  const text = stringOrUndefined(arn);
  return text === undefined ? null : (/:foundation-model\/(.+)$/.exec(text)?.[1] ?? text);
}

/** OpenAI's API has one validation file; AWS accepts ten. */
function firstValidator(config: unknown): unknown {
  const validators: unknown = isObject(config) ? config['validators'] : undefined;
  return Array.isArray(validators) ? validators[0] : undefined;
}

function s3Uri(config: unknown): unknown {
  return isObject(config) ? config['s3Uri'] : undefined;
}
