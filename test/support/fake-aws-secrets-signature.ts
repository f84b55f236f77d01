// AWS's check of signatures, computed by a library that the gateway does not use. Source:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html, read 2026-11-21.
import { createHash } from 'node:crypto';
import aws4 from 'aws4';
import type { ProviderCall } from './fake-provider.js';

/** The largest difference between a request's time and AWS's. */
const MAX_SKEW_MS = 5 * 60_000;
const FORM =
  /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/(\d{8})\/([^/,]+)\/([^/,]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
const INVALID_TOKEN = 'The security token included in the request is invalid.';
const MISMATCH =
  'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.';

export interface AwsKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiresAt?: Date;
}

/** The rules of a signature. Without a region, the caller may have signed for any of `regions`. */
export interface SignatureRules<Key extends AwsKey> {
  readonly service: string;
  readonly region: string | undefined;
  readonly regions: readonly string[];
  readonly now: Date;
  readonly keys: ReadonlyMap<string, Key>;
}

export type SignatureRefusal = 'missing' | 'incomplete' | 'unknown_key' | 'mismatch' | 'expired_token';
export type SignatureVerdict<Key> =
  { readonly key: Key; readonly region: string } | { readonly refusal: SignatureRefusal; readonly message: string };

interface Claim {
  readonly accessKeyId: string;
  readonly date: string;
  readonly region: string;
  readonly service: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

export function checkSignature<Key extends AwsKey>(
  call: ProviderCall,
  rules: SignatureRules<Key>,
): SignatureVerdict<Key> {
  const { authorization } = call.headers;
  if (authorization === undefined) return refuse('missing', 'Missing Authentication Token');
  const claim = readClaim(authorization);
  if (claim === undefined) return refuse('incomplete', `Authorization header requires 'Credential' parameter.`);
  const key = rules.keys.get(claim.accessKeyId);
  const token = headerOf(call, 'x-amz-security-token');
  if (key === undefined || key.sessionToken !== token) return refuse('unknown_key', INVALID_TOKEN);
  const problem =
    scopeProblem(claim, rules) ?? headerProblem(claim, call) ?? timeProblem(headerOf(call, 'x-amz-date'), rules.now);
  if (problem !== undefined) return refuse('mismatch', problem);
  if (!isGenuine(call, claim, key)) return refuse('mismatch', MISMATCH);
  if (key.expiresAt !== undefined && key.expiresAt <= rules.now) {
    return refuse('expired_token', 'The security token included in the request is expired');
  }
  return { key, region: claim.region };
}

function readClaim(authorization: string): Claim | undefined {
  const [, accessKeyId, date, region, service, names, signature] = FORM.exec(authorization) ?? [];
  if (accessKeyId === undefined || date === undefined || region === undefined || service === undefined)
    return undefined;
  if (names === undefined || signature === undefined) return undefined;
  return { accessKeyId, date, region, service, signedHeaders: names.split(';'), signature };
}

function scopeProblem(claim: Claim, { service, region, regions }: SignatureRules<AwsKey>): string | undefined {
  if (region === undefined ? !regions.includes(claim.region) : claim.region !== region) {
    return `Credential should be scoped to a valid region, not '${claim.region}'. `;
  }
  return claim.service === service ? undefined : `Credential should be scoped to correct service: '${service}'. `;
}

/** The signature must cover the host and all of AWS's own headers. */
function headerProblem({ signedHeaders, date }: Claim, call: ProviderCall): string | undefined {
  const required = ['host', 'x-amz-date', ...Object.keys(call.headers).filter((name) => name.startsWith('x-amz-'))];
  const missing = required.find((name) => !signedHeaders.includes(name));
  if (missing !== undefined) return `'${missing}' must be a 'SignedHeader' in the AWS Authorization.`;
  const time = headerOf(call, 'x-amz-date') ?? '';
  return time.startsWith(date)
    ? undefined
    : `Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date.`;
}

function timeProblem(time: string | undefined, now: Date): string | undefined {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time ?? '') ?? [];
  if (parts.length === 0) return `Date must be in ISO-8601 'basic format'. Got '${time}'.`;
  const [year = 0, month = 0, ...rest] = parts.map(Number);
  const skew = Date.UTC(year, month - 1, ...rest) - now.getTime();
  const bound = new Date(now.getTime() + Math.sign(skew) * MAX_SKEW_MS);
  if (skew < -MAX_SKEW_MS) {
    return `Signature expired: ${time} is now earlier than ${stamp(bound)} (${stamp(now)} - 5 min.)`;
  }
  return skew > MAX_SKEW_MS
    ? `Signature not yet current: ${time} is still later than ${stamp(bound)} (${stamp(now)} + 5 min.)`
    : undefined;
}

function isGenuine(call: ProviderCall, claim: Claim, key: AwsKey): boolean {
  const bodyHash = headerOf(call, 'x-amz-content-sha256');
  if (bodyHash !== undefined && bodyHash !== createHash('sha256').update(call.body).digest('hex')) return false;
  const signed = Object.entries(call.headers).filter(([name]) => claim.signedHeaders.includes(name));
  const signer = new aws4.RequestSigner(
    {
      method: call.method,
      path: call.path,
      headers: Object.fromEntries(signed),
      body: call.body,
      service: claim.service,
      region: claim.region,
      doNotModifyHeaders: true,
    },
    key,
  );
  signer.datetime = headerOf(call, 'x-amz-date');
  signer.prepareRequest();
  return signer.signedHeaders() === claim.signedHeaders.join(';') && signer.signature() === claim.signature;
}

function headerOf({ headers }: ProviderCall, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}

function stamp(date: Date): string {
  return date.toISOString().replace(/[:-]|\.\d{3}/g, '');
}

function refuse(refusal: SignatureRefusal, message: string): { refusal: SignatureRefusal; message: string } {
  return { refusal, message };
}
