// A double of Entra ID: discovery, keys and the token endpoint, and the local endpoint of managed identities. Sources:
// https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow and
// https://learn.microsoft.com/azure/app-service/overview-managed-identity, read 2026-11-21.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { answerJson, type Misbehaviour, misbehave, readText } from './fake-azure-wire.js';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const ASSERTION_AUDIENCE = 'api://AzureADTokenExchange';
const FEDERATED_ISSUER = 'https://cluster.azure.test';
const TOKEN_SECONDS = 3_599;

export interface FakeApp {
  readonly tenantId: string;
  readonly clientId: string;
  readonly secret?: string;
  readonly secretExpired?: boolean;
  /** The subject of the cluster's tokens, which can replace a secret. */
  readonly federatedSubject?: string;
}

export interface TokenRequest {
  readonly path: string;
  readonly form: URLSearchParams;
}

export interface Mint {
  readonly audience: string;
  readonly tenantId: string;
  readonly clientId: string;
  readonly expiresIn?: number;
  readonly key?: CryptoKey;
}

interface Oauth {
  readonly status: number;
  readonly error: string;
  readonly aadsts: number;
  readonly text: string;
}

const UNKNOWN_TENANT: Oauth = { status: 400, error: 'invalid_tenant', aadsts: 90002, text: 'Tenant not found.' };
const UNKNOWN_APP: Oauth = {
  status: 400,
  error: 'unauthorized_client',
  aadsts: 700016,
  text: 'Application was not found in the directory.',
};
const WRONG_SECRET: Oauth = {
  status: 401,
  error: 'invalid_client',
  aadsts: 7000215,
  text: 'Invalid client secret provided.',
};
const EXPIRED_SECRET: Oauth = {
  status: 401,
  error: 'invalid_client',
  aadsts: 7000222,
  text: 'The provided client secret keys are expired.',
};
const WRONG_ASSERTION: Oauth = {
  status: 401,
  error: 'invalid_client',
  aadsts: 700027,
  text: 'Client assertion failed signature validation.',
};
const WRONG_SCOPE: Oauth = {
  status: 400,
  error: 'invalid_scope',
  aadsts: 1002012,
  text: 'The provided value for scope is not valid.',
};
const WRONG_GRANT: Oauth = {
  status: 400,
  error: 'unsupported_grant_type',
  aadsts: 70003,
  text: 'The app requested an unsupported grant type.',
};

export class FakeEntra {
  readonly requests: TokenRequest[] = [];
  /** Requests for managed identities, by their query. */
  readonly identityRequests: URLSearchParams[] = [];
  readonly identityHeader = randomUUID();
  behaviour: Misbehaviour | 'wrong_shape' | undefined;
  /** Limits the fault to paths with this ending. */
  misbehavesAt = '';
  readonly #apps = new Map<string, FakeApp>();
  readonly #domains = new Map<string, string>();
  /** Client id, or '' for the machine's own identity. */
  readonly #identities = new Map<string, FakeApp>();

  private constructor(
    readonly origin: string,
    readonly resource: string,
    private readonly keys: {
      readonly signing: CryptoKey;
      readonly cluster: CryptoKey;
      readonly clusterPublic: CryptoKey;
    },
    readonly verificationKey: CryptoKey,
  ) {}

  static async create(origin: string, resource: string): Promise<FakeEntra> {
    const signing = await generateKeyPair('RS256', { extractable: true });
    const cluster = await generateKeyPair('RS256');
    const keys = { signing: signing.privateKey, cluster: cluster.privateKey, clusterPublic: cluster.publicKey };
    return new FakeEntra(origin, resource, keys, signing.publicKey);
  }

  addApp(app: FakeApp): void {
    this.#apps.set(app.clientId, app);
  }

  addDomain(domain: string, tenantId: string): void {
    this.#domains.set(domain, tenantId);
  }

  addManagedIdentity(app: FakeApp, selectedBy: string): void {
    this.#identities.set(selectedBy, app);
  }

  forget(): void {
    this.requests.length = 0;
    this.identityRequests.length = 0;
    this.behaviour = undefined;
    this.misbehavesAt = '';
  }

  get tokenRequests(): readonly TokenRequest[] {
    return this.requests.filter(({ path }) => path.endsWith('/oauth2/v2.0/token'));
  }

  issuerOf(tenantId: string): string {
    return `https://sts.azure.test/${tenantId}/`;
  }

  mint({ audience, tenantId, clientId, expiresIn = TOKEN_SECONDS, key = this.keys.signing }: Mint): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    return new SignJWT({ tid: tenantId, appid: clientId, appidacr: '1', oid: clientId, uti: randomUUID(), ver: '1.0' })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: 'signing-1' })
      .setIssuer(this.issuerOf(tenantId))
      .setAudience(audience)
      .setIssuedAt(now)
      .setNotBefore(now - 300)
      .setExpirationTime(now + expiresIn)
      .sign(key);
  }

  /** The token that the cluster writes to AZURE_FEDERATED_TOKEN_FILE. */
  federatedToken(subject: string): Promise<string> {
    return new SignJWT({})
      .setProtectedHeader({ alg: 'RS256', kid: 'cluster-1' })
      .setIssuer(FEDERATED_ISSUER)
      .setSubject(subject)
      .setAudience(ASSERTION_AUDIENCE)
      .setExpirationTime('1h')
      .sign(this.keys.cluster);
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '', this.origin);
    const form = new URLSearchParams(await readText(request));
    this.requests.push({ path: pathname, form });
    const behaviour = pathname.endsWith(this.misbehavesAt) ? this.behaviour : undefined;
    if (behaviour === 'wrong_shape') return answerJson(response, 200, { token_type: 'Bearer' });
    if (misbehave(behaviour, response)) return;
    const [, tenant = '', ...rest] = pathname.split('/');
    const tenantId = this.#tenantIdOf(tenant);
    if (tenantId === undefined) return refuse(response, UNKNOWN_TENANT);
    const route = `${request.method} ${rest.join('/')}`;
    if (route === 'GET v2.0/.well-known/openid-configuration') {
      return answerJson(response, 200, this.#discovery(tenantId));
    }
    if (route === 'GET discovery/v2.0/keys') {
      const key = { ...(await exportJWK(this.verificationKey)), kid: 'signing-1', use: 'sig' };
      return answerJson(response, 200, { keys: [key] });
    }
    if (route === 'POST oauth2/v2.0/token') return this.#token(tenantId, form, response);
    answerJson(response, 404, {});
  }

  /** GET {IDENTITY_ENDPOINT}?api-version=2019-08-01&resource=..., with the header X-IDENTITY-HEADER. */
  async handleIdentity(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
    this.identityRequests.push(searchParams);
    if (request.headers['x-identity-header'] !== this.identityHeader) {
      return answerJson(response, 401, { statusCode: 401, message: 'wrong identity header' });
    }
    if (searchParams.get('api-version') !== '2019-08-01') {
      return answerJson(response, 400, { statusCode: 400, message: 'unknown api-version' });
    }
    const app = this.#identities.get(searchParams.get('client_id') ?? '');
    const audience = searchParams.get('resource');
    if (app === undefined || audience !== this.resource) {
      return answerJson(response, 400, { statusCode: 400, message: 'No User Assigned or Delegated identity found.' });
    }
    const expiresOn = String(Math.floor(Date.now() / 1_000) + 86_400);
    const token = await this.mint({ ...app, audience, expiresIn: 86_400 });
    answerJson(response, 200, {
      access_token: token,
      client_id: app.clientId,
      expires_on: expiresOn,
      resource: audience,
      token_type: 'Bearer',
    });
  }

  async #token(tenantId: string, form: URLSearchParams, response: ServerResponse): Promise<void> {
    const refusal = await this.#refusalOf(tenantId, form);
    if (refusal !== undefined) return refuse(response, refusal);
    const clientId = form.get('client_id') ?? '';
    answerJson(response, 200, {
      token_type: 'Bearer',
      expires_in: TOKEN_SECONDS,
      ext_expires_in: TOKEN_SECONDS,
      access_token: await this.mint({ audience: this.resource, tenantId, clientId }),
    });
  }

  async #refusalOf(tenantId: string, form: URLSearchParams): Promise<Oauth | undefined> {
    if (form.get('grant_type') !== 'client_credentials') return WRONG_GRANT;
    const app = this.#apps.get(form.get('client_id') ?? '');
    if (app?.tenantId !== tenantId) return UNKNOWN_APP;
    const proof = form.has('client_assertion') ? await this.#assertionRefusal(app, form) : secretRefusal(app, form);
    if (proof !== undefined) return proof;
    // MSAL adds the scopes of OpenID Connect to every request.
    return form.get('scope')?.split(' ').includes(`${this.resource}/.default`) ? undefined : WRONG_SCOPE;
  }

  async #assertionRefusal(app: FakeApp, form: URLSearchParams): Promise<Oauth | undefined> {
    if (form.get('client_assertion_type') !== ASSERTION_TYPE || app.federatedSubject === undefined) {
      return WRONG_ASSERTION;
    }
    const expected = { issuer: FEDERATED_ISSUER, audience: ASSERTION_AUDIENCE, subject: app.federatedSubject };
    return jwtVerify(form.get('client_assertion') ?? '', this.keys.clusterPublic, expected).then(
      () => undefined,
      () => WRONG_ASSERTION,
    );
  }

  #tenantIdOf(tenant: string): string | undefined {
    const tenantId = this.#domains.get(tenant) ?? tenant;
    return [...this.#apps.values()].some((app) => app.tenantId === tenantId) ? tenantId : undefined;
  }

  #discovery(tenantId: string): object {
    const base = `${this.origin}/${tenantId}`;
    return {
      issuer: `${base}/v2.0`,
      authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
      token_endpoint: `${base}/oauth2/v2.0/token`,
      jwks_uri: `${base}/discovery/v2.0/keys`,
      token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
      response_types_supported: ['code', 'id_token'],
      subject_types_supported: ['pairwise'],
      id_token_signing_alg_values_supported: ['RS256'],
    };
  }
}

function secretRefusal(app: FakeApp, form: URLSearchParams): Oauth | undefined {
  if (app.secret === undefined || form.get('client_secret') !== app.secret) return WRONG_SECRET;
  return app.secretExpired === true ? EXPIRED_SECRET : undefined;
}

function refuse(response: ServerResponse, { status, error, aadsts, text }: Oauth): void {
  const [trace, correlation] = [randomUUID(), randomUUID()];
  answerJson(response, status, {
    error,
    error_description: `AADSTS${aadsts}: ${text} Trace ID: ${trace} Correlation ID: ${correlation}`,
    error_codes: [aadsts],
    trace_id: trace,
    correlation_id: correlation,
    error_uri: `https://login.azure.test/error?code=${aadsts}`,
  });
}
