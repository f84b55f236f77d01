// An independent reading of the algorithm, to check the signer against. Source:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html, read 2026-11-21.
import { createHash, createHmac } from 'node:crypto';
import type { UpstreamRequest } from '../../upstream.types.js';

export interface ReadSignature {
  readonly accessKeyId: string;
  readonly scope: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

export function readAuthorization(request: UpstreamRequest): ReadSignature {
  const form = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/;
  const [, accessKeyId, scope, names, signature] = form.exec(request.headers['authorization'] ?? '') ?? [];
  if (accessKeyId === undefined || scope === undefined || names === undefined || signature === undefined) {
    throw new Error('no signature of this form');
  }
  return { accessKeyId, scope, signedHeaders: names.split(';'), signature };
}

/** The signature that AWS would compute for what it receives: the request as sent, and the Host that the URL gives. */
export function expectedSignature(request: UpstreamRequest, secretAccessKey: string): string {
  const { scope, signedHeaders } = readAuthorization(request);
  const headers: Readonly<Record<string, string>> = { ...request.headers, host: request.url.host };
  const canonicalRequest = [
    request.method,
    scope.includes('/s3/') ? objectPath(request.url.pathname) : encodePath(request.url.pathname),
    canonicalQuery(request.url),
    ...signedHeaders.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    signedHeaders.join(';'),
    sha256(request.body ?? ''),
  ].join('\n');
  const stringToSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonicalRequest)].join('\n');
  const [date = '', region = '', service = '', terminator = ''] = scope.split('/');
  const key = [date, region, service, terminator].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  return hmac(key, stringToSign).toString('hex');
}

/** Each segment encoded once more, as every service but S3 asks for. */
function encodePath(path: string): string {
  return path.split('/').map(encode).join('/');
}

/** The name of an object, each segment encoded once, as S3 asks for. */
function objectPath(path: string): string {
  return path
    .split('/')
    .map((segment) => encode(decodeURIComponent(segment)))
    .join('/');
}

function canonicalQuery(url: URL): string {
  const pairs = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`);
  return pairs.sort().join('&');
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: string | Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data, 'utf8').digest();
}
