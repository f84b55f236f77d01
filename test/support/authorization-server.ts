import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import type { default as Provider } from 'oidc-provider';
import { quietly } from './identity-provider.js';

/** The scopes that clients can request. */
const SCOPES = ['mcp.invoke', 'mcp.admin'];

export interface AuthorizationServer {
  readonly issuer: string;
  readonly jwksUri: string;
  /** Requests so far: method, path and query. */
  readonly requests: readonly string[];
  /** Lifetime in seconds of the next access tokens; one hour by default. */
  tokensLive(seconds: number): void;
  /** The scopes that the next users grant; all by default. */
  usersGrant(scopes: readonly string[]): void;
  close(): Promise<void>;
}

/**
 * A real OAuth 2.1 authorization server on loopback: dynamic registration, PKCE, resource indicators, refresh tokens. Its only
 * user logs in without a form and belongs to one organisation.
 */
export async function startAuthorizationServer(user: string, organisationId: string): Promise<AuthorizationServer> {
  const requests: string[] = [];
  const state = { tokenSeconds: 3_600, granted: SCOPES };
  let handle: RequestListener = () => undefined;
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    handle(request, response);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const issuer = `http://127.0.0.1:${Object(server.address()).port}`;
  const provider = await createProvider(issuer, organisationId, () => state.tokenSeconds);
  const callback = provider.callback();
  handle = (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void callback(request, response);
    interact(provider, request, response, user, state.granted).catch(() => response.destroy());
  };
  return {
    issuer,
    jwksUri: `${issuer}/jwks`,
    requests,
    tokensLive: (seconds) => {
      state.tokenSeconds = seconds;
    },
    usersGrant: (scopes) => {
      state.granted = [...scopes];
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function createProvider(issuer: string, organisationId: string, tokenSeconds: () => number): Promise<Provider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const signingKey = { ...(await exportJWK(privateKey)), kid: 'signing-1', use: 'sig', alg: 'RS256' };
  return quietly(async () => {
    const { default: OidcProvider } = await import('oidc-provider');
    return new OidcProvider(issuer, {
      jwks: { keys: [signingKey] },
      cookies: { keys: ['not-a-secret'] },
      scopes: [...SCOPES],
      features: {
        devInteractions: { enabled: false },
        registration: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_context, audience) => ({
            audience,
            scope: SCOPES.join(' '),
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'RS256' } },
          }),
        },
      },
      findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token'),
      extraTokenClaims: () => ({ organisation_id: organisationId }),
      ttl: { AccessToken: tokenSeconds, Grant: 3_600, Interaction: 60, RefreshToken: 3_600, Session: 60 },
    });
  });
}

/** The page on which a user would log in and then grant scopes. */
async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
  user: string,
  granted: readonly string[],
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId: user } });
    return;
  }
  const grant = new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params['client_id']) });
  const resource = String(params['resource']);
  const wanted = String(params['scope']).split(' ');
  // Clients may register for the provider's own scopes and for the resource's.
  grant.addOIDCScope(wanted.join(' '));
  grant.addResourceScope(resource, wanted.filter((scope) => granted.includes(scope)).join(' '));
  grant.rejectResourceScope(resource, wanted.filter((scope) => !granted.includes(scope)).join(' '));
  const consent = { grantId: await grant.save() };
  await provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}
