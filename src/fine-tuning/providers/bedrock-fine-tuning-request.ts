// A fine-tuning job to create, as Bedrock's model-customization job. Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_CreateModelCustomizationJob.html, read 2026-11-21.
import { isObject, type JsonObject } from '../../common/json/read.js';
import { JOB_NAME, MODEL, ROLE_ARN, S3_FOLDER, S3_INPUT } from '../../upstream/providers/bedrock/job-fields.js';
import { BodyFields, type FieldRule, textLike } from '../../common/validation/body-fields.js';
import { folderOf } from '../../upstream/providers/bedrock/s3-file.js';
import { type Hyperparameters, toBedrockHyperparameters } from './bedrock-hyperparameters.js';

/** Fields of OpenAI's API without a meaning here. */
export const LEFT_OUT = ['seed', 'metadata', 'integrations'] as const;

const KNOWN = [
  ...LEFT_OUT,
  'model',
  'training_file',
  'validation_file',
  'hyperparameters',
  'method',
  'suffix',
  'role_arn',
  'job_name',
  'output_s3_uri',
] as const;

/** Becomes the name of the model, which must be unique in the account. */
const SUFFIX = textLike(/^(?:[0-9a-zA-Z][_-]?){1,63}$/, 'must have at most 63 letters, digits and single - or _');

/**
 * The body of the request that makes the job. `uniqueName` is the default name of the job and of the model, and the
 * idempotency token of AWS.
 * @throws GatewayError `validation_failed` with every broken rule
 */
export function toCustomizationJob(body: JsonObject, uniqueName: string): JsonObject {
  const fields = new BodyFields(body);
  const baseModelIdentifier = fields.required('model', MODEL);
  const training = fields.required('training_file', S3_INPUT);
  const validation = fields.optional('validation_file', S3_INPUT);
  const roleArn = fields.required('role_arn', ROLE_ARN);
  const output =
    fields.optional('output_s3_uri', S3_FOLDER) ?? (training === undefined ? undefined : folderOf(training));
  if (training !== undefined && output === undefined) {
    fields.refuse('output_s3_uri', 'is required where training_file is not a file in a folder');
  }
  const customModelName = fields.optional('suffix', SUFFIX) ?? `ft-${uniqueName}`;
  const jobName = fields.optional('job_name', JOB_NAME) ?? `ft-${uniqueName}`;
  const hyperParameters = readHyperparameters(fields, body);
  fields.refuseOthers(KNOWN, 'is not supported for fine-tuning at Amazon Bedrock');
  fields.done();
  return {
    jobName,
    customModelName,
    clientRequestToken: uniqueName,
    customizationType: 'FINE_TUNING',
    baseModelIdentifier,
    roleArn,
    trainingDataConfig: { s3Uri: training },
    ...(validation === undefined ? {} : { validationDataConfig: { validators: [{ s3Uri: validation }] } }),
    outputDataConfig: { s3Uri: output },
    ...(hyperParameters === undefined ? {} : { hyperParameters }),
  };
}

/** `{"type": "supervised", "supervised": {"hyperparameters": {…}}}`, the newer place of the hyperparameters. */
const SUPERVISED: FieldRule<JsonObject> = {
  read(value) {
    if (!isObject(value) || value['type'] !== 'supervised') return undefined;
    const settings = value['supervised'] ?? {};
    return isObject(settings) ? settings : undefined;
  },
  expected: 'must have the type supervised, which is the only one that Bedrock has here',
};

function readHyperparameters(fields: BodyFields, body: JsonObject): Hyperparameters | undefined {
  const ofMethod = fields.optional('method', SUPERVISED)?.['hyperparameters'] ?? undefined;
  const plain = body['hyperparameters'] ?? undefined;
  if (plain !== undefined && ofMethod !== undefined) {
    fields.refuse('hyperparameters', 'must not be given beside those of method');
  }
  if (plain !== undefined) return toBedrockHyperparameters(plain, 'hyperparameters', fields);
  if (ofMethod === undefined) return undefined;
  return toBedrockHyperparameters(ofMethod, 'method.supervised.hyperparameters', fields);
}
