// AWS Secrets Manager. Source: https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html,
// read 2026-11-21.
import { isUtf8 } from 'node:buffer';
import type { GetSecretValueCommandInput, GetSecretValueCommandOutput } from '@aws-sdk/client-secrets-manager';
import { awsScheme } from '../auth-config/aws.scheme.js';
import type { IdentityAllowList } from '../identity-allow-list.js';
import { readAwsAuth, readAwsRegion, type AwsAuth } from './aws-auth.js';
import { AwsClients, type AwsCaller, type AwsEndpointSettings } from './aws-clients.js';
import { toSecretError } from './aws-error.js';
import { AwsOwnIdentity, type AwsIdentitySettings } from './aws-own-identity.js';
import { SecretError, type SecretDocument, type SecretManager, type SecretRequest } from './secret-manager.types.js';
import type { SecretTransport } from './secret-transport.js';

/** Ids of versions have 32 to 64 characters; what is shorter is a label. */
const MIN_VERSION_ID_CHARACTERS = 32;

export type AwsSettings = AwsEndpointSettings & AwsIdentitySettings;

export class AwsSecretsManager implements SecretManager {
  readonly type = 'cloudA_sm';
  readonly #clients: AwsClients;

  /** @param ownIdentity who the gateway itself is; given by tests */
  constructor(
    transport: Pick<SecretTransport, 'fetchWith'>,
    private readonly allowList: Pick<IdentityAllowList, 'allows'>,
    private readonly config: AwsSettings,
    private readonly ownIdentity = new AwsOwnIdentity(config),
  ) {
    this.#clients = new AwsClients(transport, ownIdentity, config);
  }

  /**
   * At most two attempts, and as many for a role session where there is none, each bounded by SECRET_MANAGER_TIMEOUT_MS.
   * @throws SecretError
   */
  async fetch(request: SecretRequest): Promise<SecretDocument> {
    this.#checkIdentity(request);
    const { organisationId, authConfig } = request;
    const caller = { organisationId, auth: readAwsAuth(authConfig), region: readAwsRegion(request) };
    return readDocument(await this.#ask(caller, inputFor(request)));
  }

  close(): Promise<void> {
    this.#clients.clear();
    return Promise.resolve();
  }

  /** Asked each time: the setting may have changed since the reference was made. */
  #checkIdentity({ organisationId, authConfig, path, version }: SecretRequest): void {
    const target = awsScheme.identityTarget(authConfig, { path, version });
    if (target === undefined || this.allowList.allows(organisationId, this.type, target)) return;
    throw new SecretError(
      'identity_not_allowed',
      "SECRET_IDENTITY_ALLOW does not let the organisation read this secret with the gateway's own identity",
    );
  }

  async #ask(caller: AwsCaller, input: GetSecretValueCommandInput): Promise<GetSecretValueCommandOutput> {
    const { GetSecretValueCommand } = await import('@aws-sdk/client-secrets-manager');
    try {
      const client = await this.#clients.clientFor(caller);
      return await client.send(new GetSecretValueCommand(input));
    } catch (cause) {
      const error = toSecretError(cause, secretsOf(caller.auth, this.config));
      this.#forgetRefused(caller, error);
      throw error;
    }
  }

  #forgetRefused(caller: AwsCaller, { code }: SecretError): void {
    // A denial as well: it is what becomes of a role session when the role's owner ends it.
    if (code === 'authentication_failed' || code === 'access_denied') this.#clients.forget(caller);
    // No denial here: a tenant whose role does not trust the gateway could make it ask for its identity over and over.
    if (code === 'authentication_failed' && caller.auth.type !== 'accessKey') this.ownIdentity.forget();
  }
}

function inputFor({ path, version }: SecretRequest): GetSecretValueCommandInput {
  if (version === undefined) return { SecretId: path };
  return version.length >= MIN_VERSION_ID_CHARACTERS
    ? { SecretId: path, VersionId: version }
    : { SecretId: path, VersionStage: version };
}

function readDocument(output: GetSecretValueCommandOutput): SecretDocument {
  // The SDK promises types that it does not check.
  const text: unknown = output.SecretString;
  const bytes: unknown = output.SecretBinary;
  if (typeof text === 'string') return { kind: 'text', text };
  if (!(bytes instanceof Uint8Array)) throw new SecretError('invalid_response', 'AWS answered without a value');
  if (!isUtf8(bytes)) throw new SecretError('not_text', 'the secret is binary, and not UTF-8');
  return { kind: 'text', text: Buffer.from(bytes).toString('utf8') };
}

/** What the service was told, or signed with, and might say again. */
function secretsOf(auth: AwsAuth, config: AwsSettings): readonly string[] {
  const secrets =
    auth.type === 'accessKey'
      ? [auth.accessKeyId, auth.secretAccessKey, auth.sessionToken]
      : [config.AWS_ACCESS_KEY_ID, config.AWS_SECRET_ACCESS_KEY, config.AWS_SESSION_TOKEN];
  return secrets.filter((secret) => secret !== undefined);
}
