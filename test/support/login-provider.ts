import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import type { default as Provider } from 'oidc-provider';

const CLIENT_ID = 'console';
const CLIENT_SECRET = 'console-secret-0123456789';
const SCOPE = 'openid profile email groups';

interface LoginUser {
  readonly sub: string;
  /** Absent: the subject at example.com. */
  readonly email?: string;
  readonly groups?: readonly string[];
}

export interface LoginProvider {
  readonly issuer: string;
  /** The settings with which a gateway logs people in here. */
  settings(publicUrl: string, roles: readonly string[]): Readonly<Record<string, string>>;
  /** Who logs in next, without a form. */
  nextUser(user: LoginUser): void;
  close(): Promise<void>;
}

/** A real OpenID Connect provider on loopback in which people log in to the console, with PKCE. */
export async function startLoginProvider(gatewayUrl: string): Promise<LoginProvider> {
  let user: LoginUser = { sub: 'nobody' };
  const known = new Map<string, LoginUser>();
  let handle: RequestListener = () => undefined;
  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const issuer = `http://127.0.0.1:${Object(server.address()).port}`;
  const provider = await createProvider(issuer, `${gatewayUrl}/v1/login/oidc/callback`, known);
  const callback = provider.callback();
  handle = (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void callback(request, response);
    known.set(user.sub, user);
    interact(provider, request, response, user.sub).catch(() => response.destroy());
  };
  return {
    issuer,
    settings: (publicUrl, roles) => ({
      PUBLIC_URL: publicUrl,
      ADMIN_OIDC_ISSUER: issuer,
      ADMIN_OIDC_CLIENT_ID: CLIENT_ID,
      ADMIN_OIDC_CLIENT_SECRET: CLIENT_SECRET,
      ADMIN_OIDC_LOGIN_SCOPE: SCOPE,
      ADMIN_OIDC_ROLES: roles.join(','),
    }),
    nextUser: (next) => {
      user = next;
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function createProvider(
  issuer: string,
  redirectUri: string,
  known: ReadonlyMap<string, LoginUser>,
): Promise<Provider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const signingKey = { ...(await exportJWK(privateKey)), kid: 'signing-1', use: 'sig', alg: 'RS256' };
  const { warn, info } = console;
  // It warns about Node's version and about the missing database, which the tests accept.
  Object.assign(console, { warn: () => undefined, info: () => undefined });
  try {
    const { default: OidcProvider } = await import('oidc-provider');
    return new OidcProvider(issuer, {
      clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [redirectUri], scope: SCOPE }],
      jwks: { keys: [signingKey] },
      cookies: { keys: ['not-a-secret'] },
      scopes: SCOPE.split(' '),
      claims: { openid: ['sub'], email: ['email'], groups: ['groups'] },
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      findAccount: (_context, accountId) => ({
        accountId,
        claims: () => ({ email: `${accountId}@example.com`, ...known.get(accountId), sub: accountId }),
      }),
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 60, Session: 1 },
    });
  } finally {
    Object.assign(console, { warn, info });
  }
}

/** The page on which a person would log in, and then agree. */
async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
  accountId: string,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId, remember: false } });
    return;
  }
  const grant = new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params['client_id']) });
  grant.addOIDCScope(String(params['scope']));
  const consent = { grantId: await grant.save() };
  await provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}
