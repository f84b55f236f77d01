// Bedrock's model-invocation job as a batch. Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_GetModelInvocationJob.html, read 2026-11-21.
import {
  isObject,
  type JsonObject,
  numberOrUndefined,
  readObject,
  readString,
  stringOrUndefined,
} from '../../common/json/read.js';
import { type BedrockJobKind, toJobId } from '../../upstream/providers/bedrock/jobs.js';
import { isoToUnixSeconds } from '../../common/time/unix-time.js';
import { toFileId } from '../../upstream/providers/bedrock/s3-file.js';
import type { BatchStatus } from '../batch.response.js';

export const INVOCATION_JOB: BedrockJobKind = {
  idPrefix: 'batch_',
  idParam: 'batch_id',
  arn: /^arn:aws(?:-[a-z-]+)?:bedrock:(?<region>[a-z0-9-]{1,20}):(?<account>\d{12}):model-invocation-job\/[a-z0-9]{1,64}$/,
  listPath: '/model-invocation-jobs',
  listField: 'invocationJobSummaries',
  jobPath: '/model-invocation-job',
};

const STATUSES: ReadonlyMap<string, BatchStatus> = new Map([
  ['Submitted', 'validating'],
  ['Validating', 'validating'],
  ['Scheduled', 'in_progress'],
  ['InProgress', 'in_progress'],
  ['Completed', 'completed'],
  // Both counts leave out records that were not processed.
  ['PartiallyCompleted', 'completed'],
  ['Failed', 'failed'],
  ['Stopping', 'cancelling'],
  ['Stopped', 'cancelled'],
  ['Expired', 'expired'],
]);

/** Path suffixes of the calls that the records stand for. */
const CALLS: ReadonlyMap<unknown, string> = new Map([
  ['InvokeModel', 'invoke'],
  ['Converse', 'converse'],
]);

/** The batch of a job, read on its own or from a list. Fields that AWS leaves out are null. */
export function toBatch(answer: unknown): JsonObject & { readonly id: string; readonly status: BatchStatus } {
  const job = readObject(answer, 'job');
  const providerStatus = stringOrUndefined(job['status']);
  const status = toStatus(providerStatus);
  const endedAt = isoToUnixSeconds(job['endTime']);
  const endedAs = (end: BatchStatus): number | null => (status === end ? endedAt : null);
  const hours = numberOrUndefined(job['timeoutDurationInHours']);
  return {
    id: toJobId(INVOCATION_JOB, readString(job['jobArn'], 'job.jobArn')),
    object: 'batch',
    endpoint: endpointOf(job),
    model: stringOrUndefined(job['modelId']) ?? null,
    errors: status === 'failed' ? toErrors(job['message']) : null,
    input_file_id: toFileId(s3Uri(job['inputDataConfig'], 's3InputDataConfig')),
    completion_window: hours === undefined ? null : `${hours}h`,
    status,
    // A folder: AWS names the files in it, and writes failed records into the same files.
    output_file_id: status === 'completed' ? toFileId(s3Uri(job['outputDataConfig'], 's3OutputDataConfig')) : null,
    error_file_id: null,
    created_at: isoToUnixSeconds(job['submitTime']),
    in_progress_at: null,
    expires_at: isoToUnixSeconds(job['jobExpirationTime']),
    finalizing_at: null,
    completed_at: endedAs('completed'),
    failed_at: endedAs('failed'),
    expired_at: endedAs('expired'),
    cancelling_at: null,
    cancelled_at: endedAs('cancelled'),
    request_counts: toCounts(job),
    metadata: null,
    tollgate: { provider_status: providerStatus ?? null },
  };
}

/** The batch of a job that AWS is stopping, even if its status does not show it yet. */
export function toStoppedBatch(answer: unknown): JsonObject {
  const batch = toBatch(answer);
  const running = batch.status === 'validating' || batch.status === 'in_progress';
  return running ? { ...batch, status: 'cancelling' } : batch;
}

/** A status that AWS adds later must neither end a client's polling nor fail whole lists. */
function toStatus(status: string | undefined): BatchStatus {
  return status === undefined ? 'validating' : (STATUSES.get(status) ?? 'in_progress');
}

/** The path of the runtime call whose body each record is. */
function endpointOf(job: JsonObject): string | null {
  const call = CALLS.get(job['modelInvocationType']);
  const model = stringOrUndefined(job['modelId']);
  return call === undefined || model === undefined ? null : `/model/${encodeURIComponent(model)}/${call}`;
}

function toErrors(message: unknown): JsonObject | null {
  const text = stringOrUndefined(message);
  return text === undefined ? null : { object: 'list', data: [{ code: null, message: text, param: null, line: null }] };
}

function toCounts(job: JsonObject): JsonObject | null {
  const total = numberOrUndefined(job['totalRecordCount']);
  const completed = numberOrUndefined(job['successRecordCount']);
  const failed = numberOrUndefined(job['errorRecordCount']);
  return total === undefined || completed === undefined || failed === undefined ? null : { total, completed, failed };
}

function s3Uri(config: unknown, member: string): unknown {
  const s3 = isObject(config) ? config[member] : undefined;
  return isObject(s3) ? s3['s3Uri'] : undefined;
}
