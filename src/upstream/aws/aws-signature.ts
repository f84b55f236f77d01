// AWS Signature Version 4. Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html, read 2026-11-21.
import { Hash } from '@smithy/hash-node';
import { HttpRequest } from '@smithy/protocol-http';
import { SignatureV4 } from '@smithy/signature-v4';
import type { UpstreamRequest } from '../upstream.types.js';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Only temporary credentials have a token. It is part of the signature. */
  readonly sessionToken?: string | undefined;
}

export const S3 = 's3';

interface SigningScope {
  /** The service's name in the signature, which may differ from the host's: both Bedrock hosts sign as `bedrock`. */
  readonly service: string;
  readonly region: string;
  /** Whether to omit the header with the hash of the body. */
  readonly isWithoutChecksum?: boolean;
}

class Sha256 extends Hash {
  constructor(secret?: ConstructorParameters<typeof Hash>[1]) {
    super('sha256', secret);
  }
}

/**
 * Adds date, body hash, session token and signature to a request. `host` is signed but not added, since it follows from
 * the URL.
 */
export async function signAwsRequest(
  request: UpstreamRequest,
  credentials: AwsCredentials,
  { isWithoutChecksum = false, ...scope }: SigningScope,
  now: Date,
): Promise<UpstreamRequest> {
  const { url } = request;
  const signer = new SignatureV4({
    ...scope,
    credentials,
    sha256: Sha256,
    applyChecksum: !isWithoutChecksum,
    // S3 signs the path as sent. All other services sign it encoded once more.
    uriEscapePath: scope.service !== S3,
  });
  const toSign = new HttpRequest({
    method: request.method,
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: queryOf(url),
    headers: { ...request.headers, host: url.host },
    body: request.body,
  });
  const { headers } = await signer.sign(toSign, { signingDate: now });
  return { ...request, headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'host')) };
}

function queryOf(url: URL): Record<string, string[]> {
  const names = new Set(url.searchParams.keys());
  return Object.fromEntries([...names].map((name) => [name, url.searchParams.getAll(name)]));
}
