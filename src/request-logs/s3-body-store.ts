import type { S3Client } from '@aws-sdk/client-s3';
import { NEVER_ABORTED } from '../common/http/client-connection.js';
import type { AppConfig } from '../config/environment.js';
import type { AwsOwnIdentity } from '../upstream/aws/aws-own-identity.js';
import { awsRequestHandler } from '../upstream/aws/aws-request-handler.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';
import { EgressRoute } from '../upstream/egress/egress-route.js';
import { UpstreamClient } from '../upstream/upstream-client.js';
import { type BodyKey, type BodyStore, isDay } from './body-store.js';

const TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
const CONNECTIONS = 16;
/** Two bodies of 1 MiB, sealed, and a page of a list. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;
/** How many objects are deleted at the same time. */
const TOGETHER = 16;
const ADDRESS = /^s3:\/\/([^/]+)\/?(.*?)\/?$/;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

type Commands = typeof import('@aws-sdk/client-s3');
export type S3Settings = Pick<
  AppConfig,
  | 'REQUEST_LOG_S3_REGION'
  | 'REQUEST_LOG_S3_ENDPOINT'
  | 'REQUEST_LOG_S3_ACCESS_KEY_ID'
  | 'REQUEST_LOG_S3_SECRET_ACCESS_KEY'
  | 'EGRESS_PROXY'
  | 'EGRESS_NO_PROXY'
  | 'EGRESS_CA_FILE'
>;

/** A bucket of S3, or of a store that speaks its protocol: one object a call, `<prefix>/<day>/<organisation>/<id>`. */
export class S3BodyStore implements BodyStore {
  readonly #bucket: string;
  /** With the slash at its end; empty: there is none. */
  readonly #prefix: string;
  readonly #http: UpstreamClient;
  #client: S3Client | undefined;

  /** @param address `s3://bucket/prefix` */
  constructor(
    address: string,
    private readonly settings: S3Settings,
    private readonly ownIdentity: Pick<AwsOwnIdentity, 'provide'>,
  ) {
    const [, bucket = '', prefix = ''] = ADDRESS.exec(address) ?? [];
    this.#bucket = bucket;
    this.#prefix = prefix === '' ? '' : `${prefix}/`;
    // With a guard of its own, which allows one host: EGRESS_ALLOW would let every tenant ask it.
    const policy = new EgressPolicy(ownHosts(settings), undefined, new EgressRoute(settings));
    this.#http = new UpstreamClient(policy, {
      connectionsPerOrigin: CONNECTIONS,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
    });
  }

  async put(key: BodyKey, sealed: string): Promise<void> {
    const { client, commands } = await this.opened();
    const body = Buffer.from(sealed, 'latin1');
    await client.send(new commands.PutObjectCommand({ ...this.objectOf(key), Body: body, ContentType: 'text/plain' }));
  }

  async get(key: BodyKey): Promise<string | undefined> {
    const { client, commands } = await this.opened();
    try {
      const { Body: body } = await client.send(new commands.GetObjectCommand(this.objectOf(key)));
      return await body?.transformToString('latin1');
    } catch (error) {
      if (error instanceof commands.NoSuchKey) return undefined;
      throw error;
    }
  }

  async days(): Promise<readonly string[]> {
    const { client, commands } = await this.opened();
    const pages = commands.paginateListObjectsV2(
      { client },
      { Bucket: this.#bucket, Prefix: this.#prefix, Delimiter: '/' },
    );
    const days: string[] = [];
    for await (const { CommonPrefixes: found = [] } of pages) {
      days.push(...found.map(({ Prefix: prefix = '' }) => prefix.slice(this.#prefix.length, -1)).filter(isDay));
    }
    return days;
  }

  async deleteDay(day: string, isStopping: () => boolean): Promise<void> {
    const { client, commands } = await this.opened();
    const pages = commands.paginateListObjectsV2(
      { client },
      { Bucket: this.#bucket, Prefix: `${this.#prefix}${day}/` },
    );
    for await (const { Contents: found = [] } of pages) {
      for (let start = 0; start < found.length && !isStopping(); start += TOGETHER) {
        // One by one: not every store deletes several with one request.
        const deletions = found
          .slice(start, start + TOGETHER)
          .map(({ Key: key }) => client.send(new commands.DeleteObjectCommand({ Bucket: this.#bucket, Key: key })));
        await Promise.all(deletions);
      }
      if (isStopping()) return;
    }
  }

  async close(): Promise<void> {
    this.#client?.destroy();
    await this.#http.close();
  }

  private objectOf({ day, organisationId, id }: BodyKey): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: `${this.#prefix}${day}/${organisationId}/${id}` };
  }

  private async opened(): Promise<{ readonly client: S3Client; readonly commands: Commands }> {
    // Loaded at the first use: most gateways keep no bodies in a bucket.
    const commands = await import('@aws-sdk/client-s3');
    this.#client ??= this.connect(commands);
    return { client: this.#client, commands };
  }

  private connect({ S3Client: Client }: Commands): S3Client {
    const { REQUEST_LOG_S3_REGION: region, REQUEST_LOG_S3_ENDPOINT: endpoint } = this.settings;
    const bounds = { timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_RESPONSE_BYTES, caller: NEVER_ABORTED };
    return new Client({
      region,
      endpoint,
      // Other stores seldom have a host for each bucket.
      forcePathStyle: endpoint !== undefined,
      credentials: async () => ({ ...(await this.identity()) }),
      requestHandler: awsRequestHandler((request) => this.#http.send({ request, ...bounds, retry: 'never' })),
      maxAttempts: 2,
      // Other stores do not know the newer checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  }

  private async identity() {
    const { REQUEST_LOG_S3_ACCESS_KEY_ID: accessKeyId, REQUEST_LOG_S3_SECRET_ACCESS_KEY: secretAccessKey } =
      this.settings;
    if (accessKeyId !== undefined && secretAccessKey !== undefined) return { accessKeyId, secretAccessKey };
    return this.ownIdentity.provide();
  }
}

/** The operator's own store may be on a private network. */
function ownHosts({ REQUEST_LOG_S3_ENDPOINT: endpoint }: S3Settings): readonly string[] {
  if (endpoint === undefined) return [];
  const { hostname, port, protocol } = new URL(endpoint);
  return [`${hostname}:${port === '' ? DEFAULT_PORTS[protocol] : port}`];
}
