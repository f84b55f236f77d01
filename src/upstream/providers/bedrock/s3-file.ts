// S3 addresses as file ids. Form of an address: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ModelInvocationJobS3InputDataConfig.html, read 2026-11-21.
import { createHash } from 'node:crypto';
import { stringOrUndefined } from '../../../common/json/read.js';
import { fromOpaqueId, toOpaqueId } from '../../../common/opaque-id.js';
import type { UpstreamRequest } from '../../upstream.types.js';
import type { Credential, ProviderRequest } from '../provider.types.js';
import { awsEncoded } from './aws-path.js';

const PREFIX = 'file-';
const S3_URI = /^s3:\/\/[a-z0-9][-.a-z0-9]{1,61}[a-z0-9](?:\/[-!_*'().\w]+)*\/?$/;
const MAX_CHARACTERS = 1_024;
const FILE_PARTS = /^s3:\/\/([^/]+)\/(.*[^/])$/;
/** Only S3 requires this header. */
const BODY_HASH = 'x-amz-content-sha256';
const NO_BODY = { [BODY_HASH]: createHash('sha256').digest('hex') };

/** Converts an address to an id that fits into a path; null without an address. */
export function toFileId(address: unknown): string | null {
  const text = stringOrUndefined(address);
  return text === undefined ? null : toOpaqueId(PREFIX, text);
}

/** Reads an address from `s3://…` or from an id of the format above; undefined for other values. */
export function s3Address(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const address = value.startsWith(PREFIX) ? fromOpaqueId(PREFIX, value) : value;
  return address !== undefined && address.length <= MAX_CHARACTERS && S3_URI.test(address) ? address : undefined;
}

/** The request that reads a file; undefined when the address names a bucket or a folder. */
export function s3FileRequest(address: string, region: string | undefined): ProviderRequest | undefined {
  const [, bucket, key] = FILE_PARTS.exec(address) ?? [];
  if (bucket === undefined || key === undefined) return undefined;
  const path = `/${bucket}/${key.split('/').map(awsEncoded).join('/')}`;
  return { method: 'GET', path, query: {}, headers: NO_BODY, region, plane: 'files' };
}

/** The request that reads a file with this credential, or the reason why it cannot be read. */
export function readableS3File(
  credential: Credential,
  address: string | undefined,
  region: string | undefined,
): ProviderRequest | string {
  if (credential.key !== undefined) return 'an API key of Bedrock opens no files in S3';
  const request = address === undefined ? undefined : s3FileRequest(address, region);
  return request ?? 'it must name one file';
}

export function isS3Request({ headers }: Pick<UpstreamRequest, 'headers'>): boolean {
  return headers[BODY_HASH] !== undefined;
}

/** The folder of a file; undefined for a bucket or a folder, so that results are never written among the inputs. */
export function folderOf(address: string): string | undefined {
  return /^(s3:\/\/[^/]+\/(?:.*\/)?)[^/]+$/.exec(address)?.[1];
}
