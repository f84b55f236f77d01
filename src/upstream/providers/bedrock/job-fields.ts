// Fields of both kinds of Bedrock jobs. Source:
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_CreateModelCustomizationJob.html, read 2026-11-21.
import { AWS_ROLE_ARN } from '../../aws/aws-role-arn.js';
import { type FieldRule, textLike } from '../../../common/validation/body-fields.js';
import { s3Address } from './s3-file.js';

export const MODEL = textLike(
  /^[A-Za-z0-9][\w.:/-]{0,2047}$/,
  'must be the id or the ARN of a model, for example amazon.nova-micro-v1:0',
);

export const ROLE_ARN = textLike(
  AWS_ROLE_ARN,
  'must be the ARN of the IAM role with which Bedrock reads the input and writes the output',
);

export const JOB_NAME = textLike(/^[A-Za-z0-9][A-Za-z0-9+.-]{0,62}$/, 'must have at most 63 letters, digits and + - .');

export const S3_INPUT: FieldRule<string> = {
  read: s3Address,
  expected: 'must be an S3 address, for example s3://bucket/folder/input.jsonl, or the id of such a file',
};

export const S3_FOLDER: FieldRule<string> = {
  read: (value) => (typeof value === 'string' && value.startsWith('s3://') ? s3Address(value) : undefined),
  expected: 'must be the S3 address of a folder, for example s3://bucket/folder/',
};

const ARN_REGION = /^arn:aws(?:-[a-z-]+)?:bedrock:([a-z0-9-]{1,20}):/;

/** The region in a model's ARN; undefined for a model id, which may exist in every region. */
export function regionOfModel(model: unknown): string | undefined {
  return typeof model === 'string' ? ARN_REGION.exec(model)?.[1] : undefined;
}
