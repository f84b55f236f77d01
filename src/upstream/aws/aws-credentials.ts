import { createHash } from 'node:crypto';
import { isNativeError } from 'node:util/types';
import { LRUCache } from 'lru-cache';
import type { MaybePromise } from '../../common/maybe-promise.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { outlastsCalls } from '../../common/time/expiry.js';
import { assumeRole, type RoleSession, type StsServices } from './assume-role.js';
import { AwsIdentityError, type AwsOwnIdentity } from './aws-own-identity.js';
import type { AwsCredentials } from './aws-signature.js';
import type { BaseProviderOptions, Credential } from '../providers/provider.types.js';

const MAX_SESSIONS = 1_000;

export const AWS_AUTH_TYPES = ['accessKey', 'assumedRole', 'serviceRole'] as const;
export type AwsAuthType = (typeof AWS_AUTH_TYPES)[number];

/** The options of a virtual key that select the signing credentials. */
export interface AwsOptions extends BaseProviderOptions {
  readonly aws_auth_type?: AwsAuthType;
  readonly aws_access_key_id?: string;
  readonly aws_secret_access_key?: string;
  readonly aws_session_token?: string;
  readonly aws_role_arn?: string;
  readonly aws_external_id?: string;
}

export interface AwsCredentialServices extends StsServices {
  readonly now: () => Date;
  /** For `aws_auth_type: serviceRole`. */
  readonly ownIdentity: Pick<AwsOwnIdentity, 'provide' | 'forget'>;
  /** Ids of the organisations that may use the gateway's own identity; empty unless the operator names some. */
  readonly allowedServiceRoleOrganisations: readonly string[];
}

/**
 * Resolves a virtual key's AWS options to signing credentials. Role sessions are cached until shortly before they
 * expire.
 */
export class AwsCredentialSource {
  readonly #sessions = new LRUCache<string, RoleSession>({ max: MAX_SESSIONS });
  readonly #pending = new Map<string, Promise<RoleSession>>();

  constructor(private readonly services: AwsCredentialServices) {}

  /** Throws `secret_unavailable`, and `permission_denied` for an organisation that may not use the gateway's identity. */
  async resolve(credential: Credential<AwsOptions>, region: string): Promise<AwsCredentials> {
    const type = credential.options.aws_auth_type ?? 'accessKey';
    if (type === 'serviceRole') return this.#ownIdentity(credential.organisationId);
    const stored = storedKey(credential.options);
    return type === 'accessKey' ? stored : (await this.#session(credential, stored, region)).credentials;
  }

  /** Drops credentials that AWS refused. Returns whether the next ones may differ. */
  forget({ options }: Credential<AwsOptions>, refused: AwsCredentials): boolean {
    if (options.aws_auth_type === 'serviceRole') return this.services.ownIdentity.forget(refused);
    if (options.aws_auth_type !== 'assumedRole') return false;
    for (const [cacheKey, { credentials }] of this.#sessions.entries()) {
      if (credentials === refused) this.#sessions.delete(cacheKey);
    }
    return true;
  }

  /** Returns no promise when the identity is known. */
  #ownIdentity(organisationId: string): MaybePromise<AwsCredentials> {
    const { ownIdentity, allowedServiceRoleOrganisations } = this.services;
    if (!allowedServiceRoleOrganisations.includes(organisationId)) {
      throw new GatewayError('permission_denied', {
        message: "The organisation of this virtual key may not use the gateway's own AWS identity.",
        reason: 'aws_auth_type serviceRole: the organisation is not in AWS_SERVICE_ROLE_ORGANISATIONS',
      });
    }
    const identity = ownIdentity.provide();
    return identity instanceof Promise ? identity.catch(withoutIdentity) : identity;
  }

  /** Sends at most one request to STS per role and key at a time, which all waiting calls share. */
  #session(credential: Credential<AwsOptions>, stored: AwsCredentials, region: string): Promise<RoleSession> {
    const cacheKey = fingerprint(credential, stored, region);
    const cached = this.#sessions.get(cacheKey);
    if (cached !== undefined && this.#lasts(cached)) return Promise.resolve(cached);
    const pending = this.#pending.get(cacheKey);
    if (pending !== undefined) return pending;
    const fresh = this.#assumeRole(credential, stored, region)
      .then((session) => {
        this.#sessions.set(cacheKey, session);
        return session;
      })
      .finally(() => this.#pending.delete(cacheKey));
    this.#pending.set(cacheKey, fresh);
    return fresh;
  }

  #lasts(session: RoleSession): boolean {
    return outlastsCalls(session.expiresAt.getTime(), this.services.now().getTime());
  }

  async #assumeRole(
    { options, organisationId }: Credential<AwsOptions>,
    stored: AwsCredentials,
    region: string,
  ): Promise<RoleSession> {
    const { aws_role_arn: arn, aws_external_id: externalId } = options;
    if (arn === undefined) throw new GatewayError('secret_unavailable', { reason: 'config.aws_role_arn is missing' });
    return assumeRole({ arn, externalId, organisationId }, stored, region, this.services);
  }
}

function storedKey(options: AwsOptions): AwsCredentials {
  const { aws_access_key_id: accessKeyId, aws_secret_access_key: secretAccessKey } = options;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    const reason = 'config.aws_access_key_id or config.aws_secret_access_key is missing';
    throw new GatewayError('secret_unavailable', { reason });
  }
  return { accessKeyId, secretAccessKey, sessionToken: options.aws_session_token };
}

/**
 * Hashes all inputs of a session, so that the cache's keys contain no secret and a changed secret gets a new session.
 */
function fingerprint(credential: Credential<AwsOptions>, stored: AwsCredentials, region: string): string {
  const { aws_role_arn: arn, aws_external_id: externalId } = credential.options;
  const parts = [
    credential.organisationId,
    region,
    arn,
    externalId,
    stored.accessKeyId,
    stored.secretAccessKey,
    stored.sessionToken,
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}

/** Throws `secret_unavailable`. Of foreign errors, it logs only the name, since a message may quote anything. */
function withoutIdentity(cause: unknown): never {
  const name = isNativeError(cause) ? cause.name : typeof cause;
  const reason =
    cause instanceof AwsIdentityError ? cause.message : `the gateway's own AWS identity was not found: ${name}`;
  throw new GatewayError('secret_unavailable', { reason, cause });
}
