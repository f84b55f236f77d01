// AWS Secrets Manager and STS on loopback. They check every signature, and answer and refuse as AWS does.
import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, type JsonObject } from '../../src/common/json/read.js';
import { startHttp, type Loopback } from '../../src/upstream/__fixtures__/loopback.js';
import { checkSignature, type AwsKey, type SignatureRefusal } from './fake-aws-secrets-signature.js';
import {
  AwsRefusal,
  AwsSecretStore,
  type AwsPrincipal,
  type AwsSecret,
  type AwsSecretOptions,
} from './fake-aws-secrets-store.js';
import { roleSessionAnswer, stsRefusal } from './fake-aws-secrets-sts.js';
import type { ProviderCall, Reply } from './fake-provider.js';

export const AWS_ACCOUNT = '111122223333';
export const OTHER_AWS_ACCOUNT = '444455556666';
export const AWS_REGION = 'eu-central-1';
const REGIONS = [AWS_REGION, 'us-east-1', 'cn-north-1', 'us-gov-west-1'];

export type AwsService = 'secretsmanager' | 'sts';

export interface AwsIamKey extends AwsKey {
  readonly principal: AwsPrincipal;
  /** The role of a session. */
  readonly role?: AwsRole;
}

export interface AwsRole {
  readonly arn: string;
  readonly account: string;
  readonly name: string;
  /** ARN of the one principal that its trust policy names. */
  readonly trusts: string;
  /** The sts:ExternalId that the trust policy requires. */
  readonly externalId?: string;
  readonly mayRead: readonly string[];
}

/** A request with a valid signature. */
export interface AwsCall {
  readonly service: AwsService;
  readonly region: string;
  readonly accessKeyId: string;
  readonly input: JsonObject;
  readonly headers: IncomingMessage['headers'];
}

/** The error's name in either service. */
const REFUSALS: Readonly<
  Record<SignatureRefusal, Readonly<Record<AwsService, readonly [code: string, status: number]>>>
> = {
  missing: { secretsmanager: ['MissingAuthenticationTokenException', 400], sts: ['MissingAuthenticationToken', 403] },
  incomplete: { secretsmanager: ['IncompleteSignatureException', 400], sts: ['IncompleteSignature', 400] },
  unknown_key: { secretsmanager: ['UnrecognizedClientException', 400], sts: ['InvalidClientTokenId', 403] },
  mismatch: { secretsmanager: ['InvalidSignatureException', 400], sts: ['SignatureDoesNotMatch', 403] },
  expired_token: { secretsmanager: ['ExpiredTokenException', 400], sts: ['ExpiredToken', 403] },
};

export class FakeAwsSecrets {
  /** Requests with a valid signature, in order. */
  readonly calls: AwsCall[] = [];
  /** The number of all requests, including refused ones. */
  requests = 0;
  /** AWS's clock. */
  now: () => Date = () => new Date();
  sessionSeconds = 3_600;
  delayMs = 0;
  readonly #keys = new Map<string, AwsIamKey>();
  readonly #roles = new Map<string, AwsRole>();
  readonly #store = new AwsSecretStore();
  readonly #replies = new Map<AwsService, { readonly reply: Reply; times: number }>();
  #server: Loopback | undefined;

  get url(): string {
    if (this.#server === undefined) throw new Error('the fake AWS was not started');
    return this.#server.origin;
  }

  async start(): Promise<this> {
    this.#server = await startHttp((request, response) => {
      void this.#answer(request, response).catch(() => response.destroy());
    });
    return this;
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  addUser(name: string, mayRead: readonly string[] = ['*'], account = AWS_ACCOUNT): AwsIamKey {
    return this.#addKey({
      accessKeyId: keyId('AKIA'),
      // Shorter than AWS's, so that only its value identifies it as a secret.
      secretAccessKey: randomBytes(15).toString('hex'),
      principal: { arn: `arn:aws:iam::${account}:user/${name}`, account, mayRead },
    });
  }

  addRole(name: string, options: Pick<AwsRole, 'trusts' | 'externalId'> & Partial<AwsRole>): AwsRole {
    const account = options.account ?? AWS_ACCOUNT;
    const role = { mayRead: ['*'], ...options, name, account, arn: `arn:aws:iam::${account}:role/${name}` };
    this.#roles.set(role.arn, role);
    return role;
  }

  addSecret(options: Partial<AwsSecretOptions> & Pick<AwsSecretOptions, 'name' | 'value'>): AwsSecret {
    return this.#store.add({ account: AWS_ACCOUNT, region: AWS_REGION, ...options });
  }

  /** The answer to the next requests to a service that have a valid signature. */
  replyWith(service: AwsService, reply: Reply, times = Number.POSITIVE_INFINITY): void {
    this.#replies.set(service, { reply, times });
  }

  callsOf(service: AwsService): readonly AwsCall[] {
    return this.calls.filter((call) => call.service === service);
  }

  /** The owner's action "revoke active sessions": a policy that denies all sessions so far. */
  endSessions(role: AwsRole): void {
    for (const key of this.#keys.values()) {
      if (key.role?.arn === role.arn) this.#addKey({ ...key, principal: { ...key.principal, mayRead: [] } });
    }
  }

  /** Removes keys of sessions or users, so that AWS treats them as unknown. */
  removeKeys(isGone: (key: AwsIamKey) => boolean): void {
    for (const [id, key] of this.#keys) if (isGone(key)) this.#keys.delete(id);
  }

  #addKey(key: AwsIamKey): AwsIamKey {
    this.#keys.set(key.accessKeyId, key);
    return key;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    const call = await readCall(request);
    const service: AwsService = call.headers['x-amz-target'] === undefined ? 'sts' : 'secretsmanager';
    // Clients correct their clock by AWS's.
    response.setHeader('date', this.now().toUTCString());
    response.setHeader('x-amzn-requestid', randomUUID());
    if (this.delayMs > 0) await sleep(this.delayMs, undefined, { ref: false });
    try {
      const { key, region } = this.#authenticate(call, service);
      const input = service === 'sts' ? Object.fromEntries(new URLSearchParams(call.body)) : readJson(call.body);
      this.calls.push({ service, region, accessKeyId: key.accessKeyId, input, headers: call.headers });
      const reply = this.#nextReply(service);
      if (reply !== undefined) return reply(response, call);
      if (service === 'sts') return this.#assumeRole(key, input, call)(response, call);
      if (call.headers['x-amz-target'] !== 'secretsmanager.GetSecretValue')
        throw new AwsRefusal('UnknownOperationException', '');
      jsonAnswer(this.#store.getSecretValue(key.principal, region, input))(response, call);
    } catch (error) {
      if (!(error instanceof AwsRefusal)) throw error;
      const refusal = service === 'sts' ? stsRefusal(error) : awsRefusal(error.code, error.message, error.status);
      refusal(response, call);
    }
  }

  #nextReply(service: AwsService): Reply | undefined {
    const next = this.#replies.get(service);
    if (next === undefined || next.times <= 0) return undefined;
    next.times -= 1;
    return next.reply;
  }

  #authenticate(call: ProviderCall, service: AwsService): { readonly key: AwsIamKey; readonly region: string } {
    const [, hostService, region] = /^(\w+)\.([a-z0-9-]+)\.amazonaws\.com/.exec(call.headers.host ?? '') ?? [];
    const rules = { service: hostService ?? service, region, regions: REGIONS, now: this.now(), keys: this.#keys };
    const verdict = checkSignature(call, rules);
    if ('key' in verdict) return verdict;
    throw new AwsRefusal(REFUSALS[verdict.refusal][service][0], verdict.message, REFUSALS[verdict.refusal][service][1]);
  }

  #assumeRole({ principal }: AwsIamKey, input: JsonObject, call: ProviderCall): Reply {
    const { RoleArn: arn, RoleSessionName: sessionName, ExternalId: externalId } = input;
    if (input['Action'] !== 'AssumeRole' || input['Version'] !== '2011-06-15')
      throw new AwsRefusal('InvalidAction', '');
    if (!isValid(sessionName, /^[\w+=,.@-]{2,64}$/) || !isValid(externalId ?? 'none', /^[\w+=,.@:/-]{2,1224}$/)) {
      throw new AwsRefusal('ValidationError', '1 validation error detected');
    }
    const role = this.#roles.get(String(arn));
    if (role?.trusts !== principal.arn || (role.externalId !== undefined && role.externalId !== externalId)) {
      const message = `User: ${principal.arn} is not authorized to perform: sts:AssumeRole on resource: ${String(arn)}`;
      throw new AwsRefusal('AccessDenied', message, 403);
    }
    const session = this.#addKey({
      accessKeyId: keyId('ASIA'),
      secretAccessKey: randomBytes(30).toString('base64'),
      sessionToken: randomBytes(240).toString('base64'),
      // To the second, as AWS writes it.
      expiresAt: new Date(Math.floor(this.now().getTime() / 1_000 + this.sessionSeconds) * 1_000),
      principal: {
        arn: `arn:aws:sts::${role.account}:assumed-role/${role.name}/${String(sessionName)}`,
        account: role.account,
        mayRead: role.mayRead,
      },
      role,
    });
    return roleSessionAnswer(session, String(call.headers.accept ?? ''));
  }
}

/** An answer of Secrets Manager. */
export function jsonAnswer(body: unknown, status = 200): Reply {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
}

/** A refusal of Secrets Manager. */
export function awsRefusal(code: string, message: string, status = 400): Reply {
  // IAM's denials have this spelling, the service's own errors do not.
  const field = code === 'AccessDeniedException' ? 'Message' : 'message';
  return jsonAnswer({ __type: code, [field]: message }, status);
}

async function readCall(request: IncomingMessage): Promise<ProviderCall> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const { method = '', url: path = '', headers } = request;
  return { method, path, headers, body: Buffer.concat(chunks).toString('utf8'), closedEarly: false };
}

function readJson(body: string): JsonObject {
  const value: unknown = JSON.parse(body);
  if (!isObject(value)) throw new AwsRefusal('SerializationException', '');
  return value;
}

function isValid(value: unknown, form: RegExp): boolean {
  return typeof value === 'string' && form.test(value);
}

function keyId(kind: 'AKIA' | 'ASIA'): string {
  return kind + [...randomBytes(16)].map((byte) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[byte % 32]).join('');
}
