// AWS Signature Version 4. Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html, read 2026-11-21.
import { Hash } from '@smithy/hash-node';
import { HttpRequest } from '@smithy/protocol-http';
import { SignatureV4 } from '@smithy/signature-v4';
import type { UpstreamRequest } from '../upstream.types.js';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Only temporary credentials have one. It is part of the signature. */
  readonly sessionToken?: string | undefined;
}

export const S3 = 's3';

interface SigningScope {
  /** The name in the signature, which is not always the host's: both Bedrock hosts sign as `bedrock`. */
  readonly service: string;
  readonly region: string;
  /** Whether the header with the hash of the body is left out. */
  readonly isWithoutChecksum?: boolean;
}

class Sha256 extends Hash {
  constructor(secret?: ConstructorParameters<typeof Hash>[1]) {
    super('sha256', secret);
  }
}

/** The request with date, body hash, session token and signature. `host` is signed but not sent from here: it comes from the URL. */
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
    // S3 takes the path as it is sent, all others encoded once more.
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
