// AWS Secrets Manager. Source: https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html,
// read 2026-11-21.
import { isUtf8 } from 'node:buffer';
import type {
  GetSecretValueCommandInput,
  GetSecretValueCommandOutput,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { LRUCache } from 'lru-cache';
import type { AwsIdentitySettings, AwsOwnIdentity } from '../../upstream/aws/aws-own-identity.js';
import { readAwsAuth, readAwsRegion, type AwsAuth } from './aws-auth.js';
import { AwsClients, awsFingerprint, type AwsCaller, type AwsEndpointSettings } from './aws-clients.js';
import { toSecretError } from './aws-error.js';
import { SecretError, type SecretDocument, type SecretManager, type SecretRequest } from './secret-manager.types.js';
import type { SecretTransport } from './secret-transport.js';

/** Ids of versions have 32 to 64 characters; what is shorter is a label. */
const MIN_VERSION_ID_CHARACTERS = 32;
/** How long a secret that a new role session was denied is not worth another session. */
const DENIAL_MEMORY_MS = 60_000;
const MAX_DENIALS = 1_000;

export type AwsSettings = AwsEndpointSettings & AwsIdentitySettings;

export class AwsSecretsManager implements SecretManager {
  readonly type = 'cloudA_sm';
  readonly #clients: AwsClients;
  readonly #denials = new LRUCache<string, true>({ max: MAX_DENIALS, ttl: DENIAL_MEMORY_MS });

  constructor(
    transport: Pick<SecretTransport, 'sender'>,
    private readonly config: AwsSettings,
    private readonly ownIdentity: Pick<AwsOwnIdentity, 'provide' | 'forget'>,
  ) {
    this.#clients = new AwsClients(transport, ownIdentity, config);
  }

  /**
   * At most two attempts, and as many for a role session where there is none, each bounded by SECRET_MANAGER_TIMEOUT_MS;
   * the same again where credentials that were kept are refused.
   * @throws SecretError
   */
  async fetch(request: SecretRequest): Promise<SecretDocument> {
    const { organisationId, authConfig } = request;
    const caller = { organisationId, auth: readAwsAuth(authConfig), region: readAwsRegion(request) };
    return readDocument(await this.#ask(caller, inputFor(request)));
  }

  close(): Promise<void> {
    this.#clients.clear();
    return Promise.resolve();
  }

  /** A role session that was kept may have been ended since by the role's owner: then once more, with a new one. */
  async #ask(caller: AwsCaller, input: GetSecretValueCommandInput): Promise<GetSecretValueCommandOutput> {
    const denial = `${awsFingerprint(caller)} ${input.SecretId}`;
    const kept = this.#clients.kept(caller);
    try {
      if (kept !== undefined) return await this.#send(caller, kept, input);
    } catch (error) {
      if (!(error instanceof SecretError) || !this.#isWorthAnother(caller, error, denial)) throw error;
      if (kept !== undefined) this.#clients.forget(caller, kept);
    }
    try {
      return await this.#send(caller, this.#clients.clientFor(caller), input);
    } catch (error) {
      if (error instanceof SecretError && error.code === 'access_denied') this.#denials.set(denial, true);
      throw error;
    }
  }

  #isWorthAnother({ auth }: AwsCaller, { code }: SecretError, denial: string): boolean {
    if (code === 'authentication_failed') return auth.type !== 'accessKey';
    // A denial is what becomes of a role session when the role's owner ends it, or of a secret that the role may not read.
    return code === 'access_denied' && auth.type === 'assumedRole' && !this.#denials.has(denial);
  }

  async #send(
    caller: AwsCaller,
    client: Promise<SecretsManagerClient>,
    input: GetSecretValueCommandInput,
  ): Promise<GetSecretValueCommandOutput> {
    const { GetSecretValueCommand } = await import('@aws-sdk/client-secrets-manager');
    try {
      return await (await client).send(new GetSecretValueCommand(input));
    } catch (cause) {
      const error = toSecretError(cause, secretsOf(caller.auth, this.config));
      if (error.code === 'authentication_failed') this.#forgetRefused(caller, client);
      throw error;
    }
  }

  /** Not after a denial: a tenant whose role does not trust the gateway could make it ask for its identity over and over. */
  #forgetRefused(caller: AwsCaller, client: Promise<SecretsManagerClient>): void {
    if (this.#clients.forget(caller, client) && caller.auth.type !== 'accessKey') this.ownIdentity.forget();
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

/** What the service received or signed with, and might repeat. */
function secretsOf(auth: AwsAuth, config: AwsSettings): readonly string[] {
  const secrets =
    auth.type === 'accessKey'
      ? [auth.accessKeyId, auth.secretAccessKey, auth.sessionToken]
      : [config.AWS_ACCESS_KEY_ID, config.AWS_SECRET_ACCESS_KEY, config.AWS_SESSION_TOKEN];
  return secrets.filter((secret) => secret !== undefined);
}
