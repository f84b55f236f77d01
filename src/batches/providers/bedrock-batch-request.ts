// A batch to create, as Bedrock's model-invocation job. Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_CreateModelInvocationJob.html, read 2026-11-21.
import type { JsonObject } from '../../common/json/read.js';
import { BodyFields, type FieldRule } from '../../common/validation/body-fields.js';
import { JOB_NAME, MODEL, ROLE_ARN, S3_FOLDER, S3_INPUT } from '../../upstream/providers/bedrock/job-fields.js';
import { folderOf } from '../../upstream/providers/bedrock/s3-file.js';

/**
 * Fields of OpenAI's API without a meaning here. `endpoint`: each record of the input is already in the model's own format, for the
 * one model of the job.
 */
export const LEFT_OUT = ['endpoint', 'metadata'] as const;

const KNOWN = [
  ...LEFT_OUT,
  'input_file_id',
  'model',
  'role_arn',
  'job_name',
  'output_s3_uri',
  'completion_window',
] as const;

/** AWS accepts 24 to 168 hours. */
const WINDOW: FieldRule<number> = {
  read(value) {
    if (typeof value !== 'string') return undefined;
    const hours = Number(/^(\d{2,3})h$/.exec(value)?.[1]);
    return hours >= 24 && hours <= 168 ? hours : undefined;
  },
  expected: 'must be between 24h and 168h',
};

/**
 * The body of the request that makes the job. `uniqueName` is the default name of the job and the idempotency token of
 * AWS.
 * @throws GatewayError `validation_failed` with every broken rule
 */
export function toInvocationJob(body: JsonObject, uniqueName: string): JsonObject {
  const fields = new BodyFields(body);
  const input = fields.required('input_file_id', S3_INPUT);
  const modelId = fields.required('model', MODEL);
  const roleArn = fields.required('role_arn', ROLE_ARN);
  const output = fields.optional('output_s3_uri', S3_FOLDER) ?? (input === undefined ? undefined : folderOf(input));
  if (input !== undefined && output === undefined) {
    fields.refuse('output_s3_uri', 'is required where input_file_id is not a file in a folder');
  }
  const jobName = fields.optional('job_name', JOB_NAME) ?? `batch-${uniqueName}`;
  const timeoutDurationInHours = fields.optional('completion_window', WINDOW);
  fields.refuseOthers(KNOWN, 'is not supported for batches at Amazon Bedrock');
  fields.done();
  return {
    jobName,
    clientRequestToken: uniqueName,
    modelId,
    roleArn,
    inputDataConfig: { s3InputDataConfig: { s3InputFormat: 'JSONL', s3Uri: input } },
    outputDataConfig: { s3OutputDataConfig: { s3Uri: output } },
    ...(timeoutDurationInHours === undefined ? {} : { timeoutDurationInHours }),
  };
}
