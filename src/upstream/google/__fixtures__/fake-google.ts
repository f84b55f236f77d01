// Google's token endpoints, its metadata server, and Vertex behind them. It gives a token to those who prove who they are, and
// lets nobody in without one. Sources: those of ../token-exchange.ts and ../metadata-server.ts.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { isObject, parseForeignJson } from '../../../common/json/read.js';
import type { UpstreamAnswer, UpstreamRequest } from '../../upstream.types.js';

export const SUBJECT_TOKEN = 'subject-token-of-another-provider';
export const AUDIENCE = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/one';
export const CLIENT = { client_id: 'pool-client', client_secret: 'pool-client-secret' } as const;
export const ROBOT = 'robot@my-project.iam.gserviceaccount.com';
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const LIFETIME_SECONDS = 3_599;
const JWT_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';

export interface GoogleQuestion {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

export interface GoogleAnswer {
  readonly status: number;
  readonly json: unknown;
}

export function newKeyPair(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync('rsa', { modulusLength: 2_048 });
}

/** One for all: to make a pair takes a while. */
let keyPair: ReturnType<typeof newKeyPair> | undefined;

export class FakeGoogle {
  readonly #keys = new Map<string, KeyObject>();
  readonly #tokens = new Set<string>();
  /** Paths of what was asked for tokens. */
  readonly asked: string[] = [];
  acceptsSubject = (token: string): boolean => token === SUBJECT_TOKEN;
  #given = 0;

  constructor(
    readonly url: string,
    private readonly now: () => Date = () => new Date(),
  ) {}

  /** The JSON file of a new key of a service account. */
  serviceAccountKey(more: object = {}): string {
    keyPair ??= newKeyPair();
    const { publicKey, privateKey } = keyPair;
    const keyId = `key-${this.#keys.size + 1}`;
    this.#keys.set(keyId, publicKey);
    return JSON.stringify({
      type: 'service_account',
      project_id: 'my-project',
      private_key_id: keyId,
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      client_email: ROBOT,
      token_uri: `${this.url}/token`,
      ...more,
    });
  }

  /** The JSON file of an external account. */
  externalAccount(source: object, more: object = {}): string {
    return JSON.stringify({
      type: 'external_account',
      audience: AUDIENCE,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${this.url}/v1/token`,
      credential_source: source,
      ...more,
    });
  }

  /** The key was deleted. */
  forgetKeys(): void {
    this.#keys.clear();
  }

  /** Tokens that were given out do not count any more. */
  revokeTokens(): void {
    this.#tokens.clear();
  }

  /** undefined: the caller may in, and what is asked is not a token. */
  async answer(question: GoogleQuestion): Promise<GoogleAnswer | undefined> {
    const [path = ''] = question.path.split('?');
    if (path.startsWith('/v1/projects/') && !path.endsWith(':generateAccessToken')) return this.#refusal(question);
    this.asked.push(path);
    switch (path) {
      case '/token':
        return this.#forAssertion(question);
      case '/v1/token':
        return this.#forSubject(question);
      case '/computeMetadata/v1/instance/service-accounts/default/token':
        return question.headers['metadata-flavor'] === 'Google' && question.method === 'GET'
          ? this.#token()
          : { status: 403, json: 'Missing Metadata-Flavor:Google header.' };
      case '/identity':
        return question.headers['x-secret'] === 'open' ? { status: 200, json: { jwt: SUBJECT_TOKEN } } : refused(401);
      case `/v1/projects/-/serviceAccounts/${ROBOT}:generateAccessToken`:
        return this.#forRobot(question);
      default:
        return refused(404);
    }
  }

  /** For what sends requests, without a network. */
  readonly send = async ({ method, url, headers, body }: UpstreamRequest): Promise<UpstreamAnswer> => {
    const path = url.pathname + url.search;
    const answer = (await this.answer({ method, path, headers, body: body?.toString() ?? '' })) ?? refused(404);
    return { status: answer.status, headers: {}, body: Buffer.from(JSON.stringify(answer.json)) };
  };

  async #forAssertion({ body }: GoogleQuestion): Promise<GoogleAnswer> {
    const form = new URLSearchParams(body);
    const assertion = form.get('assertion') ?? '';
    if (form.get('grant_type') !== JWT_GRANT) return grantRefused('unsupported_grant_type', 'Invalid grant_type.');
    const key = this.#keys.get(decodeProtectedHeader(assertion).kid ?? '');
    if (key === undefined) return grantRefused('invalid_grant', 'Invalid JWT Signature.');
    try {
      const { payload } = await jwtVerify(assertion, key, {
        algorithms: ['RS256'],
        audience: `${this.url}/token`,
        issuer: ROBOT,
        currentDate: this.now(),
        requiredClaims: ['iat', 'exp'],
      });
      const { scope, iat = 0, exp = 0 } = payload;
      if (scope !== SCOPE) return grantRefused('invalid_scope', 'Invalid OAuth scope or ID token audience provided.');
      if (exp - iat > 3_600) return grantRefused('invalid_grant', 'Invalid JWT: Token must be a short-lived token.');
      return this.#token();
    } catch {
      return grantRefused('invalid_grant', 'Invalid JWT Signature.');
    }
  }

  #forSubject({ headers, body }: GoogleQuestion): GoogleAnswer {
    const form = new URLSearchParams(body);
    const basic = Buffer.from(`${CLIENT.client_id}:${CLIENT.client_secret}`).toString('base64');
    const client = headers['authorization'];
    if (client !== undefined && client !== `Basic ${basic}`) return grantRefused('invalid_client', 'Unknown client.');
    if (form.get('grant_type') !== EXCHANGE_GRANT) return grantRefused('invalid_request', 'Invalid grant type.');
    if (form.get('audience') !== AUDIENCE) return grantRefused('invalid_target', 'The target service is invalid.');
    if (form.get('scope') !== SCOPE) return grantRefused('invalid_scope', 'Invalid scope.');
    const subject = form.get('subject_token') ?? '';
    // As others quote what they refuse.
    if (!this.acceptsSubject(subject)) return grantRefused('invalid_grant', `ID Token ${subject} is stale.`);
    return this.#token();
  }

  #forRobot(question: GoogleQuestion): GoogleAnswer {
    const refusal = this.#refusal(question);
    if (refusal !== undefined) return refusal;
    const wanted = parseForeignJson(question.body);
    const scopes: unknown = isObject(wanted) ? wanted['scope'] : undefined;
    const lifetime = isObject(wanted) ? wanted['lifetime'] : undefined;
    if (JSON.stringify(scopes) !== JSON.stringify([SCOPE]) || typeof lifetime !== 'string') return refused(400);
    const expireTime = new Date(this.now().getTime() + Number.parseInt(lifetime, 10) * 1_000).toISOString();
    return { status: 200, json: { accessToken: this.#newToken(), expireTime } };
  }

  #refusal({ headers }: GoogleQuestion): GoogleAnswer | undefined {
    const token = /^Bearer (.+)$/.exec(String(headers['authorization']))?.[1];
    return token !== undefined && this.#tokens.has(token) ? undefined : refused(401);
  }

  #token(): GoogleAnswer {
    const json = { access_token: this.#newToken(), expires_in: LIFETIME_SECONDS, token_type: 'Bearer' };
    return { status: 200, json };
  }

  #newToken(): string {
    this.#given += 1;
    const token = `ya29.token-${this.#given}`;
    this.#tokens.add(token);
    return token;
  }
}

function grantRefused(error: string, description: string): GoogleAnswer {
  return { status: 400, json: { error, error_description: description } };
}

function refused(code: number): GoogleAnswer {
  const status = { 400: 'INVALID_ARGUMENT', 401: 'UNAUTHENTICATED' }[code] ?? 'NOT_FOUND';
  return { status: code, json: { error: { code, message: `Refused: ${status}.`, status } } };
}
