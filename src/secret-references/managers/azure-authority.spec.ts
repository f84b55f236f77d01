import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '../../config/environment.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { requestFor, secretErrorOf } from './__fixtures__/azure-vault.js';
import { authorityOrigins } from './azure-identity.js';
import { AzureKeyVault } from './azure-key-vault.js';
import { SecretTransport } from './secret-transport.js';

const ID = 'fad7d5b3-0000-4000-8000-8d12124e61c1';
const VAULT = 'https://contoso.vault.azure.net';
const TOKEN_PATH = `/${ID}/oauth2/v2.0/token`;

/** A vault, and authorities that all name one host for tokens. */
class FakeClouds extends SecretTransport {
  /** Origins and paths that were asked. */
  readonly asked: string[] = [];

  constructor(private readonly tokenHost: string) {
    super(new EgressPolicy([]), loadConfig({}));
  }

  override fetchWith(): typeof fetch {
    return (input, init) => {
      if (!(input instanceof URL)) throw new TypeError('expected a URL');
      this.asked.push(`${input.origin}${input.pathname}`);
      return Promise.resolve(this.answer(input, new Headers(init?.headers)));
    };
  }

  private answer({ origin, pathname }: URL, headers: Headers): Response {
    if (origin === VAULT && headers.has('authorization'))
      return Response.json({ id: `${VAULT}/secrets/a`, value: 'v' });
    if (origin === VAULT) {
      const challenge = `Bearer authorization="https://${this.tokenHost}/${ID}", resource="https://vault.azure.net"`;
      return new Response('', { status: 401, headers: { 'www-authenticate': challenge } });
    }
    if (pathname === TOKEN_PATH) return Response.json({ access_token: 't', token_type: 'Bearer', expires_in: 3600 });
    const base = `https://${this.tokenHost}/${ID}`;
    return Response.json({
      // The SDK checks this one.
      issuer: `${origin}/${ID}/v2.0`,
      token_endpoint: `${base}/oauth2/v2.0/token`,
      authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
      jwks_uri: `${base}/discovery/v2.0/keys`,
    });
  }
}

function read(clouds: FakeClouds, authority: string): Promise<unknown> {
  const config = loadConfig({ AZURE_AUTHORITY_HOST: authority });
  const authConfig = {
    cloudB_auth_mode: 'entra',
    cloudB_entra_tenant_id: ID,
    cloudB_entra_client_id: ID,
    cloudB_entra_client_secret: 'x',
    cloudB_vault_url: VAULT,
  };
  return new AzureKeyVault(clouds, config).fetch(requestFor('a', authConfig));
}

describe('an authority that names another host for tokens', () => {
  it.each([
    ['https://login.chinacloudapi.cn', 'login.partner.microsoftonline.cn'],
    ['https://login.chinacloudapi.cn/', 'login.partner.microsoftonline.cn'],
    ['https://login.usgovcloudapi.net', 'login.microsoftonline.us'],
    ['https://login.windows.net', 'login.microsoftonline.com'],
  ])('follows an authority to a token host inside of its cloud: %s, %s', async (authority, tokenHost) => {
    const clouds = new FakeClouds(tokenHost);
    expect(await read(clouds, authority)).toEqual({ kind: 'text', text: 'v' });
    expect(clouds.asked).toContain(`https://${tokenHost}${TOKEN_PATH}`);
  });

  it.each([
    ['https://login.chinacloudapi.cn', 'login.microsoftonline.com'],
    ['https://login.windows.net', 'login.microsoftonline.us'],
    ['https://login.windows.net', 'evil.example'],
    ['https://login.example.com', 'login.microsoftonline.com'],
    ['https://login.chinacloudapi.cn', 'login.partner.microsoftonline.cn:8443'],
  ])('follows no authority to a token host outside of its cloud: %s, %s', async (authority, tokenHost) => {
    const clouds = new FakeClouds(tokenHost);
    expect((await secretErrorOf(read(clouds, authority))).code).toBe('refused_by_egress');
    expect(clouds.asked.filter((url) => url.endsWith(TOKEN_PATH))).toEqual([]);
  });
});

describe('authorityOrigins', () => {
  it.each([
    ['https://login.example.com/', ['https://login.example.com']],
    ['https://login.chinacloudapi.cn:8443', ['https://login.chinacloudapi.cn:8443']],
    ['https://login.sovcloud-identity.fr', ['https://login.sovcloud-identity.fr']],
  ])('allows for the authority %s that origin alone', (host, expected) => {
    expect(authorityOrigins(host)).toEqual(expected);
  });
});
