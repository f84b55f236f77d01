import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { UnexpectedShapeError } from '../../common/json/read.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import type { BaseProviderOptions, Credential } from '../providers/provider.types.js';
import { type GoogleCredentials, readGoogleCredentials } from './google-credentials.js';
import { tokenOfMachine } from './metadata-server.js';
import { isOfMachine, subjectTokenOf, type SubjectTokenServices } from './subject-token.js';
import type { GoogleToken, SendTokenRequest } from './token-answer.js';
import { tokenForKey, tokenForSubject } from './token-exchange.js';

const MAX_TOKENS = 1_000;
/** Tokens are renewed this long before they expire, so that a call in flight can finish with one. */
const RENEW_BEFORE_EXPIRY_MS = 5 * 60_000;

export const GOOGLE_AUTH_TYPES = ['credentials', 'metadata'] as const;
export type GoogleAuthType = (typeof GOOGLE_AUTH_TYPES)[number];

/** The options of a virtual key that select the calling identity. */
export interface GoogleOptions extends BaseProviderOptions {
  readonly google_auth_type?: GoogleAuthType;
  readonly google_credentials?: string;
}

export interface GoogleTokenServices extends SubjectTokenServices {
  readonly now: () => Date;
  /** Sends to the metadata server, which the egress rules of `send` refuse. */
  readonly sendToMachine: SendTokenRequest;
  readonly metadataHost: string;
  /**
   * Ids of the organisations that may use identities of the gateway's machine; empty unless the operator names some.
   */
  readonly allowedOrganisations: readonly string[];
  /** The hosts, or host suffixes, that may receive tokens of such identities. */
  readonly allowedHosts: readonly string[];
}

interface Identity {
  /** A hash of everything that a token depends on. */
  readonly cacheKey: string;
  /** undefined for the identity of the machine. */
  readonly credentials: GoogleCredentials | undefined;
}

interface KeptToken extends GoogleToken {
  readonly renewAt: number;
}

/**
 * Resolves a virtual key's options to an access token. Tokens are cached in memory until shortly before they expire.
 */
export class GoogleTokenSource {
  readonly #identities = new WeakMap<GoogleOptions, Identity>();
  readonly #tokens = new LRUCache<string, KeptToken>({ max: MAX_TOKENS });
  readonly #pending = new Map<string, Promise<KeptToken>>();

  constructor(private readonly services: GoogleTokenServices) {}

  /**
   * @param url the URL that receives the token
   * @throws GatewayError `secret_unavailable`, `provider_credential_rejected` when Google refuses the credential, and
   * `permission_denied` for an organisation that may not use the gateway's identity
   */
  resolve(credential: Credential<GoogleOptions>, url: URL): MaybePromise<string> {
    const identity = this.#identityOf(credential);
    this.#assertAllowed(identity, credential.organisationId, url);
    const kept = this.#tokens.get(identity.cacheKey);
    if (kept !== undefined && kept.renewAt > this.services.now().getTime()) return kept.value;
    return this.#renewed(identity, credential.organisationId).then(({ value }) => value);
  }

  /** Drops a token that Google refused. Returns true, since the next one may differ. */
  forget(credential: Credential<GoogleOptions>, refused: string): boolean {
    const { cacheKey } = this.#identityOf(credential);
    if (this.#tokens.get(cacheKey)?.value === refused) this.#tokens.delete(cacheKey);
    return true;
  }

  /** Sends at most one request per identity at a time, which all waiting calls share. */
  #renewed(identity: Identity, organisationId: string): Promise<KeptToken> {
    const { cacheKey } = identity;
    const pending = this.#pending.get(cacheKey);
    if (pending !== undefined) return pending;
    const fresh = this.#fetch(identity, organisationId)
      .then((token) => {
        const now = this.services.now().getTime();
        const lifetime = token.expiresAt - now;
        // The metadata server may return tokens that expire soon.
        const kept = { ...token, renewAt: now + Math.max(lifetime - RENEW_BEFORE_EXPIRY_MS, lifetime / 2) };
        this.#tokens.set(cacheKey, kept);
        return kept;
      })
      .finally(() => this.#pending.delete(cacheKey));
    this.#pending.set(cacheKey, fresh);
    return fresh;
  }

  async #fetch({ credentials }: Identity, organisationId: string): Promise<GoogleToken> {
    const { services } = this;
    const now = services.now();
    if (credentials === undefined) return tokenOfMachine(services.sendToMachine, services.metadataHost, now);
    if (credentials.type === 'service_account') return tokenForKey(credentials, services.send, now);
    const { tokenUrl, impersonation } = credentials;
    // These hosts receive the subject token, which may be the gateway's own.
    for (const url of [tokenUrl, impersonation?.url]) if (url !== undefined) this.#assertHost(url);
    const subjectToken = await subjectTokenOf(credentials, organisationId, services, now);
    return tokenForSubject(credentials, subjectToken, services.send, now);
  }

  #identityOf({ options, organisationId }: Credential<GoogleOptions>): Identity {
    const known = this.#identities.get(options);
    if (known !== undefined) return known;
    const { google_auth_type: type = 'credentials', google_credentials: text } = options;
    const credentials = type === 'metadata' ? undefined : readCredentials(text);
    const parts = JSON.stringify([organisationId, type, text]);
    // Hashed, so that the cache's keys hold no secret; a changed credential gets a new token.
    const identity = { cacheKey: createHash('sha256').update(parts).digest('base64'), credentials };
    this.#identities.set(options, identity);
    return identity;
  }

  /** Anyone with a bearer token can use it, so the gateway's own tokens are sent only to the allowed hosts. */
  #assertAllowed({ credentials }: Identity, organisationId: string, url: URL): void {
    if (credentials?.type === 'service_account') return;
    if (credentials !== undefined && !isOfMachine(credentials.source)) return;
    // For AWS, its own list of organisations applies instead.
    const isAws = credentials?.source.kind === 'aws';
    if (!isAws && !this.services.allowedOrganisations.includes(organisationId)) {
      throw new GatewayError('permission_denied', {
        message: "The organisation of this virtual key may not use an identity of the gateway's machine.",
        reason: 'the organisation is not in GOOGLE_IDENTITY_ORGANISATIONS',
      });
    }
    this.#assertHost(url);
  }

  #assertHost({ hostname }: URL): void {
    const isAllowed = this.services.allowedHosts.some(
      (host) => hostname === host || (host.startsWith('.') && hostname.endsWith(host)),
    );
    if (isAllowed) return;
    const reason = `GOOGLE_API_HOSTS does not include ${hostname}`;
    throw new GatewayError('secret_unavailable', { reason, hint: `${reason}.` });
  }
}

function readCredentials(text: string | undefined): GoogleCredentials {
  try {
    if (text !== undefined) return readGoogleCredentials(text);
  } catch (cause) {
    if (!(cause instanceof UnexpectedShapeError)) throw cause;
    throw new GatewayError('secret_unavailable', { reason: `config.google_credentials: ${cause.message}`, cause });
  }
  throw new GatewayError('secret_unavailable', { reason: 'config.google_credentials is missing' });
}
