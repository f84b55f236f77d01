// A double of Azure Key Vault: reading of secrets. Sources: https://learn.microsoft.com/rest/api/keyvault/secrets/get-secret
// and https://learn.microsoft.com/azure/key-vault/general/rest-error-codes, read 2026-11-21.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { decodeJwt, jwtVerify } from 'jose';
import type { FakeEntra } from './fake-azure-entra.js';
import { answerJson, type Misbehaviour, misbehave } from './fake-azure-wire.js';

const PATH = /^\/secrets\/([^/]+)\/?([^/]*)$/;

export interface VaultRequest {
  readonly path: string;
  readonly apiVersion: string | null;
  readonly authorization: string | undefined;
  readonly headers: IncomingMessage['headers'];
}

interface Version {
  readonly version: string;
  readonly value: string;
  readonly created: number;
  readonly enabled: boolean;
  /** Returned but not enforced: a read works outside of the window. */
  readonly expires?: number;
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly inner?: string;
  readonly message: string;
}

export class FakeVault {
  readonly requests: VaultRequest[] = [];
  behaviour: Misbehaviour | 'echo' | 'wrong_shape' | undefined;
  /** The false values of a hostile vault's challenge. */
  challenge: { readonly authorization?: string; readonly resource?: string; readonly tenantId?: string } = {};
  /** Returns this answer to every permitted read, such as a firewall's refusal. */
  refusal: Refusal | undefined;
  /** Treats every token as invalid. */
  rejectsTokens = false;
  readonly #secrets = new Map<string, Version[]>();
  readonly #readers = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #revoked = new Set<string>();

  constructor(
    readonly origin: string,
    readonly tenantId: string,
    private readonly entra: FakeEntra,
  ) {}

  /** Adds a version, which becomes the current one. Names ignore case. */
  setSecret(name: string, value: string, more: { readonly enabled?: boolean; readonly expires?: number } = {}): string {
    const version = randomBytes(16).toString('hex');
    const created = Math.floor(Date.now() / 1_000);
    const versions = this.#secrets.get(name.toLowerCase()) ?? [];
    this.#secrets.set(name.toLowerCase(), [...versions, { version, value, created, enabled: true, ...more }]);
    return version;
  }

  /** Deletes the secret for readers, although Azure could restore it. */
  deleteSecret(name: string): void {
    this.#secrets.delete(name.toLowerCase());
  }

  /** Grants the role "Key Vault Secrets User". */
  allowReading(clientId: string): void {
    this.#readers.add(clientId);
  }

  /** Refuses every token that was used so far. */
  revokeTokens(): void {
    for (const token of this.#seen) this.#revoked.add(token);
  }

  forget(): void {
    this.requests.length = 0;
    this.behaviour = undefined;
    this.challenge = {};
    this.refusal = undefined;
    this.rejectsTokens = false;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.origin);
    const { authorization } = request.headers;
    const apiVersion = searchParams.get('api-version');
    this.requests.push({ path: pathname, apiVersion, authorization, headers: request.headers });

    const token = /^Bearer (.+)$/.exec(authorization ?? '')?.[1];
    const unauthorized = await this.#tokenRefusal(token);
    if (token === undefined || unauthorized !== undefined) {
      return this.#askForToken(response, unauthorized ?? 'AKV10000: Request is missing a Bearer or PoP token.');
    }
    if (this.behaviour === 'echo') {
      const message = `no access with ${authorization ?? ''}`;
      return refuse(response, { status: 403, code: 'Forbidden', inner: 'ForbiddenByPolicy', message });
    }
    if (this.behaviour === 'wrong_shape') return answerJson(response, 200, { value: { nested: 'value' } });
    const { behaviour } = this;
    if (behaviour === 'down_once') this.behaviour = undefined;
    if (misbehave(behaviour, response)) return;
    if (apiVersion === null) {
      return refuse(response, { status: 400, code: 'BadParameter', message: 'api-version must be specified' });
    }
    const found = request.method === 'GET' ? PATH.exec(pathname) : undefined;
    if (!found) return refuse(response, { status: 404, code: 'NotFound', message: 'Resource not found.' });
    this.#read(String(decodeJwt(token)['appid']), found[1] ?? '', found[2] ?? '', response);
  }

  #read(appId: string, name: string, wanted: string, response: ServerResponse): void {
    if (!this.#readers.has(appId)) return refuse(response, notPermitted(appId, name));
    if (this.refusal !== undefined) return refuse(response, this.refusal);
    const versions = this.#secrets.get(name.toLowerCase()) ?? [];
    // The newest version is the current one even when it is disabled: Azure does not fall back to an earlier one.
    const found = wanted === '' ? versions.at(-1) : versions.find(({ version }) => version === wanted);
    if (found === undefined) return refuse(response, notFound(wanted === '' ? name : `${name}/${wanted}`));
    if (!found.enabled) return refuse(response, DISABLED);
    answerJson(response, 200, {
      value: found.value,
      contentType: 'text/plain',
      id: `${this.origin}/secrets/${name}/${found.version}`,
      attributes: {
        enabled: true,
        ...(found.expires === undefined ? {} : { exp: found.expires }),
        created: found.created,
        updated: found.created,
        recoveryLevel: 'Recoverable+Purgeable',
        recoverableDays: 90,
      },
      tags: {},
    });
  }

  async #tokenRefusal(token: string | undefined): Promise<string | undefined> {
    if (token === undefined) return undefined;
    this.#seen.add(token);
    const issuer = this.entra.issuerOf(this.tenantId);
    const claims = await jwtVerify(token, this.entra.verificationKey, { algorithms: ['RS256'] }).then(
      ({ payload }) => payload,
      (error: unknown) => String(Object(error).code),
    );
    if (typeof claims === 'string') return `AKV10001: Token validation failed: ${claims}.`;
    if (this.rejectsTokens || this.#revoked.has(token)) return 'AKV10001: The token was revoked.';
    if (claims.aud !== this.entra.resource) {
      return `AKV10022: Invalid audience. Expected ${this.entra.resource}, found: ${String(claims.aud)}.`;
    }
    if (claims.iss === issuer && claims['tid'] === this.tenantId) return undefined;
    return `AKV10032: Invalid issuer. Expected one of ${issuer}, found ${claims.iss}.`;
  }

  #askForToken(response: ServerResponse, message: string): void {
    const { tenantId = this.tenantId, resource = this.entra.resource } = this.challenge;
    const authorization = this.challenge.authorization ?? `${this.entra.origin}/${tenantId}`;
    const challenge = `Bearer authorization="${authorization}", resource="${resource}"`;
    answerJson(response, 401, { error: { code: 'Unauthorized', message } }, { 'www-authenticate': challenge });
  }
}

const DISABLED: Refusal = {
  status: 403,
  code: 'Forbidden',
  inner: 'SecretDisabled',
  message: 'Operation get is not allowed on a disabled secret.',
};

function notPermitted(appId: string, name: string): Refusal {
  const message = `Caller is not authorized to perform action on resource.\r\nCaller: appid=${appId}\r\nAction: 'Microsoft.KeyVault/vaults/secrets/getSecret/action'\r\nResource: '/secrets/${name}'\r\nDecisionReason: 'DeniedWithNoValidRBAC'\r\n`;
  return { status: 403, code: 'Forbidden', inner: 'ForbiddenByRbac', message };
}

function notFound(id: string): Refusal {
  const message = `A secret with (name/id) ${id} was not found in this key vault. If you recently deleted this secret you may be able to recover it using the correct recovery command.`;
  return { status: 404, code: 'SecretNotFound', message };
}

function refuse(response: ServerResponse, { status, code, inner, message }: Refusal): void {
  const innererror = inner === undefined ? {} : { innererror: { code: inner } };
  answerJson(response, status, { error: { code, message, ...innererror } });
}
