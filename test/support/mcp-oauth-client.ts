import { randomUUID } from 'node:crypto';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';

const REDIRECT_URL = 'http://127.0.0.1:9/callback';
const MAX_REDIRECTS = 10;

/** A public client that registers itself, in memory. Its user is a browser that grants everything. */
export class MemoryOAuthClient implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT_URL;
  readonly clientMetadata: OAuthClientMetadata;
  information: OAuthClientInformationMixed | undefined;
  stored: OAuthTokens | undefined;
  /** Addresses to which the user was sent. */
  readonly authorizations: URL[] = [];
  private verifier = '';
  private lastState = '';

  constructor(grants: readonly string[] = ['authorization_code', 'refresh_token']) {
    this.clientMetadata = {
      client_name: 'A test',
      redirect_uris: [REDIRECT_URL],
      grant_types: [...grants],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  state(): string {
    this.lastState = randomUUID();
    return this.lastState;
  }

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.information;
  }

  saveClientInformation(information: OAuthClientInformationMixed): void {
    this.information = information;
  }

  tokens(): OAuthTokens | undefined {
    return this.stored;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.stored = tokens;
  }

  redirectToAuthorization(url: URL): void {
    this.authorizations.push(url);
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier;
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope === 'all' || scope === 'client') this.information = undefined;
    if (scope === 'all' || scope === 'tokens') this.stored = undefined;
  }

  /** Opens the last login address in a browser without cookies; returns the code of the redirect. */
  async logIn(): Promise<string> {
    const cookies = new Map<string, string>();
    let url = this.authorizations.at(-1) ?? new URL('about:blank');
    for (let redirects = 0; redirects < MAX_REDIRECTS; redirects += 1) {
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
      const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
      const text = await response.text();
      for (const line of response.headers.getSetCookie()) {
        const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
        cookies.set(name, value);
      }
      const location = response.headers.get('location');
      if (location === null) throw new Error(`the login ended with ${response.status}: ${text}`);
      url = new URL(location, url);
      if (url.href.startsWith(REDIRECT_URL)) return this.codeIn(url);
    }
    throw new Error('the login did not end');
  }

  private codeIn({ searchParams }: URL): string {
    const code = searchParams.get('code');
    if (code === null || searchParams.get('state') !== this.lastState) {
      throw new Error(`no code: ${searchParams.get('error_description') ?? 'another state'}`);
    }
    return code;
  }
}
