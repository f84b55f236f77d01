import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { expectedSignature, readAuthorization } from '../../src/upstream/aws/__fixtures__/sigv4-verifier.js';
import { upstreamMethod } from '../../src/upstream/egress/lone-sender.js';
import { startHttp } from '../../src/upstream/__fixtures__/loopback.js';

export const S3_KEY = 'AKIDFORTHEBUCKET';
const SECRET = 'secret+of/the/bucket';
/** Of a list: small, so that tests have several pages. */
const PAGE = 2;

export interface FakeS3 {
  readonly settings: Readonly<Record<string, string>>;
  /** By key. Tests may change them. */
  readonly objects: Map<string, string>;
  /** Answers everything with this status; 0: as it should. */
  failWith: number;
  close(): Promise<void>;
}

/**
 * One bucket, `bodies`, with objects, lists in pages and deletions, by path-style addresses. Refuses requests whose signature does
 * not match. Forms: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html, read 2026-11-29.
 */
export async function startFakeS3(): Promise<FakeS3> {
  const objects = new Map<string, string>();
  const server = await startHttp((request, response) => {
    void answer(request, response).catch((error: unknown) => response.destroy(new Error(String(error))));
  });
  const fake: FakeS3 = {
    objects,
    failWith: 0,
    settings: {
      REQUEST_LOG_BODIES: 's3://bodies/of/calls',
      REQUEST_LOG_S3_ENDPOINT: server.origin,
      REQUEST_LOG_S3_ACCESS_KEY_ID: S3_KEY,
      REQUEST_LOG_S3_SECRET_ACCESS_KEY: SECRET,
    },
    close: () => server.close(),
  };
  return fake;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const url = new URL(request.url ?? '/', server.origin);
    if (fake.failWith > 0) return refuse(response, fake.failWith, 'SlowDown');
    if (!isSigned(request, url, body)) return refuse(response, 403, 'SignatureDoesNotMatch');
    const [, bucket, ...parts] = decodeURIComponent(url.pathname).split('/');
    if (bucket !== 'bodies') return refuse(response, 404, 'NoSuchBucket');
    const key = parts.join('/');
    if (request.method === 'PUT') objects.set(key, body.toString('latin1'));
    if (request.method === 'DELETE') objects.delete(key);
    if (request.method !== 'GET') return void response.end();
    if (url.searchParams.get('list-type') === '2') return void response.end(listed(url.searchParams));
    const found = objects.get(key);
    if (found === undefined) return refuse(response, 404, 'NoSuchKey');
    response.end(found);
  }

  /** One page: keys, or what they begin with up to the delimiter. */
  function listed(query: URLSearchParams): string {
    const prefix = query.get('prefix') ?? '';
    const after = query.get('continuation-token') ?? '';
    const isGrouped = query.get('delimiter') === '/';
    const nameOf = (key: string): string => {
      const end = key.indexOf('/', prefix.length);
      return isGrouped && end >= 0 ? key.slice(0, end + 1) : key;
    };
    const names = [...new Set([...objects.keys()].filter((key) => key.startsWith(prefix)).map(nameOf))];
    const rest = names.sort().filter((name) => name > after);
    const page = rest.slice(0, PAGE);
    const isCut = rest.length > page.length;
    const items = page.map((name) =>
      name.endsWith('/')
        ? `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>`
        : `<Contents><Key>${name}</Key></Contents>`,
    );
    const next = isCut ? `<NextContinuationToken>${page.at(-1) ?? ''}</NextContinuationToken>` : '';
    return `<ListBucketResult><IsTruncated>${isCut}</IsTruncated>${items.join('')}${next}</ListBucketResult>`;
  }
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<Error><Code>${code}</Code><Message>no</Message></Error>`);
}

function isSigned({ method = '', headers }: IncomingMessage, url: URL, body: Buffer): boolean {
  const named = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  const sent = { method: upstreamMethod(method), url, headers: Object.fromEntries(named), body };
  const { accessKeyId, signature } = readAuthorization(sent);
  return accessKeyId === S3_KEY && signature === expectedSignature(sent, SECRET);
}
