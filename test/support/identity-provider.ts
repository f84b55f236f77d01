import { createServer, type RequestListener } from 'node:http';
import { jest } from '@jest/globals';
import { exportJWK, generateKeyPair } from 'jose';
import { SCOPES } from '../../src/access/scopes.js';
import { readString } from '../../src/common/json/read.js';
import { jsonOf, send } from './send.js';

export const AUDIENCE = 'urn:tollgate';
/** Another API of the same provider. */
export const OTHER_AUDIENCE = 'urn:something-else';
/** Tokens for this audience are opaque: the gateway must introspect them. */
export const OPAQUE_AUDIENCE = 'urn:opaque';

/** Subjects of tokens may be UUIDs in capitals, which are different subjects in lower case. */
export const UUID_CLIENT = 'F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6';
const CLIENT_SECRET = 'client-secret-0123456789';
/** A client that may introspect tokens. */
const INTROSPECTION_CLIENT = { client_id: 'terraform', client_secret: CLIENT_SECRET };

export interface IdentityProvider {
  /** The settings with which a gateway trusts this provider. */
  readonly settings: Readonly<Record<string, string>>;
  readonly issuer: string;
  readonly jwksUri: string;
  readonly introspection: {
    readonly endpoint: string;
    readonly client_id: string;
    readonly client_secret: string;
  };
  /** The paths of the requests so far. */
  readonly requests: readonly string[];
  /** An access token for the named organisations, as an administrator's tool requests it. */
  tokenFor(grant: Grant): Promise<string>;
  close(): Promise<void>;
}

interface Grant {
  readonly clientId?: 'terraform' | 'console' | typeof UUID_CLIENT;
  readonly scopes: readonly string[];
  readonly organisationId?: string | readonly string[];
  readonly audience?: string;
}

/** A real OpenID Connect provider on loopback that issues JWT access tokens for client credentials. */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  let handle: RequestListener = () => undefined;
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    handle(request, response);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const issuer = `http://127.0.0.1:${Object(server.address()).port}`;
  /** The organisation claim of the next token. */
  let organisationId: Grant['organisationId'];
  handle = await createHandler(issuer, () => organisationId);
  return {
    settings: { ADMIN_OIDC_ISSUER: issuer, ADMIN_OIDC_AUDIENCE: AUDIENCE, ADMIN_OIDC_JWKS_URI: `${issuer}/jwks` },
    issuer,
    jwksUri: `${issuer}/jwks`,
    introspection: { endpoint: `${issuer}/token/introspection`, ...INTROSPECTION_CLIENT },
    requests,
    tokenFor: async ({ clientId = 'terraform', scopes, audience = AUDIENCE, ...grant }) => {
      organisationId = grant.organisationId;
      const form = { grant_type: 'client_credentials', scope: scopes.join(' '), resource: audience };
      const answer = await send(`${issuer}/token`, {
        headers: {
          authorization: `Basic ${Buffer.from(`${clientId}:${CLIENT_SECRET}`).toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams(form).toString(),
      });
      if (answer.status !== 200) throw new Error(`no token: ${answer.text}`);
      return readString(jsonOf(answer)['access_token'], 'access_token');
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function createHandler(issuer: string, claim: () => unknown): Promise<RequestListener> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const signingKey = { ...(await exportJWK(privateKey)), kid: 'signing-1', use: 'sig', alg: 'RS256' };
  const client = {
    client_secret: CLIENT_SECRET,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    scope: SCOPES.join(' '),
  };
  return quietly(async () => {
    const { default: Provider } = await import('oidc-provider');
    return new Provider(issuer, {
      clients: ['terraform', 'console', UUID_CLIENT].map((client_id) => ({ ...client, client_id })),
      jwks: { keys: [signingKey] },
      scopes: [...SCOPES],
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        introspection: { enabled: true, allowedPolicy: () => true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_context, audience) => ({
            audience,
            scope: SCOPES.join(' '),
            accessTokenFormat: audience === OPAQUE_AUDIENCE ? 'opaque' : 'jwt',
            jwt: { sign: { alg: 'RS256' } },
          }),
        },
      },
      extraTokenClaims: () => ({ organisation_id: claim() }),
      ttl: { ClientCredentials: 300 },
    }).callback();
  });
}

/** The provider warns about Node's version and about the missing database, which the tests accept. */
export async function quietly<Result>(work: () => Promise<Result>): Promise<Result> {
  const spies = [jest.spyOn(console, 'warn'), jest.spyOn(console, 'info')].map((spy) =>
    spy.mockImplementation(() => undefined),
  );
  try {
    return await work();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
