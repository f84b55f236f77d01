// S3 addresses as file ids. Form of an address: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ModelInvocationJobS3InputDataConfig.html, read 2026-11-21.
import { stringOrUndefined } from '../../common/json/read.js';
import { fromOpaqueId, toOpaqueId } from './opaque-id.js';

const PREFIX = 'file-';
const S3_URI = /^s3:\/\/[a-z0-9][-.a-z0-9]{1,61}[a-z0-9](?:\/[-!_*'().\w]+)*\/?$/;
const MAX_CHARACTERS = 1_024;

/** An address as an id that is fit for a path; null when there is none. */
export function toFileId(address: unknown): string | null {
  const text = stringOrUndefined(address);
  return text === undefined ? null : toOpaqueId(PREFIX, text);
}

/** The address that a caller means, as `s3://…` or as an id of the above form; undefined when it is neither. */
export function s3Address(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const address = value.startsWith(PREFIX) ? fromOpaqueId(PREFIX, value) : value;
  return address !== undefined && address.length <= MAX_CHARACTERS && S3_URI.test(address) ? address : undefined;
}

/** The folder that a file is in; undefined for a bucket or a folder, whose results must not land among the inputs. */
export function folderOf(address: string): string | undefined {
  return /^(s3:\/\/[^/]+\/(?:.*\/)?)[^/]+$/.exec(address)?.[1];
}
