// The secrets of Secrets Manager and the permissions to read them. Source:
// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html, read 2026-11-21.
import { randomBytes, randomUUID } from 'node:crypto';
import { type JsonObject, stringOrUndefined } from '../../src/common/json/read.js';

export type AwsSecretValue = string | Uint8Array;

/** An error with the service's code and message. */
export class AwsRefusal extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly status = 400,
  ) {
    super(message);
  }
}

export interface AwsPrincipal {
  readonly arn: string;
  readonly account: string;
  /** Patterns of the ARNs of secrets that it may read, with `*`. */
  readonly mayRead: readonly string[];
}

interface Version {
  readonly id: string;
  readonly value: AwsSecretValue;
  readonly createdAt: Date;
  readonly stages: Set<string>;
}

export interface AwsSecretOptions {
  readonly name: string;
  readonly value: AwsSecretValue;
  readonly account: string;
  readonly region: string;
  /** Other accounts that the secret's own policy allows. */
  readonly sharedWith?: readonly string[];
}

/** A secret with its versions and their labels. */
export class AwsSecret {
  readonly arn: string;
  readonly versions: Version[] = [];
  isDeleted = false;
  /** The state of its encryption key: enabled, denied by the key's policy, or disabled. */
  key: 'usable' | 'denied' | 'disabled' = 'usable';

  constructor(readonly options: AwsSecretOptions) {
    const { region, account, name } = options;
    this.arn = `arn:aws:secretsmanager:${region}:${account}:secret:${name}-${randomBytes(3).toString('hex')}`;
    this.add(options.value, 'AWSCURRENT');
  }

  /** The id of the version that now has the label. */
  add(value: AwsSecretValue, stage: string): string {
    const version: Version = { id: randomUUID(), value, createdAt: new Date(), stages: new Set() };
    this.versions.push(version);
    this.move(stage, version);
    return version.id;
  }

  /** Adds a pending value and makes it current; the one before it becomes previous. */
  rotate(value: AwsSecretValue): string {
    const id = this.add(value, 'AWSPENDING');
    const pending = this.find({ VersionId: id });
    this.move('AWSPREVIOUS', this.find({ VersionStage: 'AWSCURRENT' }));
    this.move('AWSCURRENT', pending);
    pending.stages.delete('AWSPENDING');
    return id;
  }

  /** Finds a version by id, by label, or by both if they agree. Throws AwsRefusal. */
  find(input: JsonObject): Version {
    const id = stringOrUndefined(input['VersionId']);
    const stage = stringOrUndefined(input['VersionStage']);
    const label = stage ?? 'AWSCURRENT';
    const version = this.versions.find((one) => (id === undefined ? one.stages.has(label) : one.id === id));
    if (version === undefined) {
      const missing = id === undefined ? `staging label: ${label}` : `VersionId: ${id}`;
      const message = `Secrets Manager can't find the specified secret value for ${missing}`;
      throw new AwsRefusal('ResourceNotFoundException', message);
    }
    if (stage !== undefined && !version.stages.has(stage)) {
      const message = 'You provided a VersionStage that is not associated to the provided VersionId.';
      throw new AwsRefusal('InvalidRequestException', message);
    }
    return version;
  }

  private move(stage: string, to: Version): void {
    for (const version of this.versions) version.stages.delete(stage);
    to.stages.add(stage);
  }
}

export class AwsSecretStore {
  readonly #secrets: AwsSecret[] = [];

  add(options: AwsSecretOptions): AwsSecret {
    const secret = new AwsSecret(options);
    this.#secrets.push(secret);
    return secret;
  }

  /** Throws AwsRefusal. */
  getSecretValue(principal: AwsPrincipal, region: string, input: JsonObject): JsonObject {
    checkLengths(input);
    const id = String(input['SecretId']);
    const secret = this.#secrets.find((one) => isNamed(one, id, principal.account, region));
    checkAccess(principal, region, id, secret);
    if (secret === undefined) {
      throw new AwsRefusal('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
    }
    if (secret.isDeleted) {
      const message = "You can't perform this operation on the secret because it was marked for deletion.";
      throw new AwsRefusal('InvalidRequestException', message);
    }
    const version = secret.find(input);
    checkKey(secret);
    return {
      ARN: secret.arn,
      CreatedDate: version.createdAt.getTime() / 1_000,
      Name: secret.options.name,
      ...(typeof version.value === 'string'
        ? { SecretString: version.value }
        : { SecretBinary: Buffer.from(version.value).toString('base64') }),
      VersionId: version.id,
      VersionStages: [...version.stages],
    };
  }
}

/** A name refers to the caller's own account; an ARN may omit the suffix that AWS added to the name. */
function isNamed({ arn, options }: AwsSecret, id: string, account: string, region: string): boolean {
  if (options.region !== region) return false;
  return id === arn || id === arn.slice(0, -7) || (options.account === account && options.name === id);
}

function checkAccess(principal: AwsPrincipal, region: string, id: string, secret: AwsSecret | undefined): void {
  const named = `arn:aws:secretsmanager:${region}:${principal.account}:secret:${id}`;
  const arn = secret?.arn ?? (id.startsWith('arn:') ? id : named);
  const isShared =
    secret === undefined ||
    secret.options.account === principal.account ||
    secret.options.sharedWith?.includes(principal.account) === true;
  if (isShared && principal.mayRead.some((pattern) => matches(pattern, arn))) return;
  const why = isShared ? 'no identity-based policy allows' : 'no resource-based policy allows';
  const action = 'secretsmanager:GetSecretValue';
  throw new AwsRefusal(
    'AccessDeniedException',
    `User: ${principal.arn} is not authorized to perform: ${action} on resource: ${id} because ${why} the ${action} action`,
  );
}

function checkKey({ key }: AwsSecret): void {
  if (key === 'denied') throw new AwsRefusal('AccessDeniedException', 'Access to KMS is not allowed');
  if (key === 'disabled') {
    const message = "Secrets Manager can't decrypt the protected secret text using the provided KMS key.";
    throw new AwsRefusal('DecryptionFailure', message);
  }
}

function checkLengths(input: JsonObject): void {
  const bounds = { SecretId: [1, 2_048], VersionId: [32, 64], VersionStage: [1, 256] } as const;
  for (const [field, [min, max]] of Object.entries(bounds)) {
    const value = input[field];
    if (value === undefined && field !== 'SecretId') continue;
    if (typeof value === 'string' && value.length >= min && value.length <= max) continue;
    const rule = `Member must have length between ${min} and ${max}`;
    const message = `1 validation error detected: Value at '${field}' failed to satisfy constraint: ${rule}`;
    throw new AwsRefusal('ValidationException', message);
  }
}

function matches(pattern: string, arn: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(arn);
}
