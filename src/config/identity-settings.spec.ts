import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { loadConfig } from './environment.js';

const OAUTH = {
  MCP_PUBLIC_URL: 'https://mcp.example.com',
  MCP_OAUTH_ISSUER: 'https://login.example.com',
  MCP_OAUTH_JWKS_URI: 'https://login.example.com/keys',
};
const INTROSPECTION = {
  MCP_OAUTH_INTROSPECTION_ENDPOINT: 'https://login.example.com/introspect',
  MCP_OAUTH_INTROSPECTION_CLIENT_ID: 'gateway',
  MCP_OAUTH_INTROSPECTION_CLIENT_SECRET: 'not-a-secret',
};
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PRIVATE_PEM = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
const PUBLIC_PEM = String(publicKey.export({ type: 'spki', format: 'pem' }));

describe('the settings of the MCP gateway', () => {
  it('needs no setting of the MCP gateway', () => {
    expect(loadConfig({})).toMatchObject({
      MCP_SESSION_SECRETS: [],
      MCP_OAUTH_SCOPES: [],
      MCP_OAUTH_AUTHORIZATION_SERVERS: [],
      MCP_OAUTH_ORGANISATION_CLAIM: 'organisation_id',
      MCP_OAUTH_WORKSPACE_CLAIM: 'workspace_id',
    });
    expect(loadConfig({}).JWT_PRIVATE_KEY).toBeUndefined();
  });

  it.each([
    { JWT_PRIVATE_KEY: PRIVATE_PEM },
    { JWT_PRIVATE_KEY: PRIVATE_PEM.replaceAll('\n', '\\n') },
    { JWT_PUBLIC_KEYS_PREVIOUS: PUBLIC_PEM, JWT_PUBLIC_KEYS_NEXT: PUBLIC_PEM },
    { MCP_PUBLIC_URL: 'https://mcp.example.com/' },
    { MCP_PUBLIC_URL: 'http://localhost:8787' },
    { MCP_SESSION_SECRETS: `${'a'.repeat(32)}, ${'b'.repeat(64)}` },
    OAUTH,
    { ...OAUTH, ...INTROSPECTION },
    { ...OAUTH, MCP_OAUTH_JWKS_URI: undefined, ...INTROSPECTION },
    { ...OAUTH, MCP_OAUTH_SCOPES: 'mcp:read,mcp:write', MCP_OAUTH_AUTHORIZATION_SERVERS: 'https://a.example' },
  ])('accepts valid settings of the MCP gateway: %#', (settings) => expect(() => loadConfig(settings)).not.toThrow());

  it.each<readonly [string, Readonly<Record<string, string | undefined>>]>([
    ['JWT_PRIVATE_KEY', { JWT_PRIVATE_KEY: 'letmein' }],
    ['JWT_PRIVATE_KEY', { JWT_PRIVATE_KEY: PUBLIC_PEM }],
    ['JWT_PUBLIC_KEYS_PREVIOUS', { JWT_PUBLIC_KEYS_PREVIOUS: PRIVATE_PEM }],
    ['JWT_PUBLIC_KEYS_NEXT', { JWT_PUBLIC_KEYS_NEXT: 'letmein' }],
    ['MCP_PUBLIC_URL', { MCP_PUBLIC_URL: 'https://mcp.example.com/path' }],
    ['MCP_PUBLIC_URL', { MCP_PUBLIC_URL: 'https://user:letmein@mcp.example.com' }],
    ['MCP_SESSION_SECRETS', { MCP_SESSION_SECRETS: 'letmein' }],
    ['MCP_OAUTH_SCOPES', { MCP_OAUTH_SCOPES: 'one two' }],
    ['MCP_OAUTH_ISSUER', { ...OAUTH, MCP_OAUTH_JWKS_URI: undefined }],
    ['MCP_OAUTH_ISSUER', { ...OAUTH, MCP_OAUTH_ISSUER: undefined }],
    ['MCP_PUBLIC_URL', { ...OAUTH, MCP_PUBLIC_URL: undefined }],
    [
      'MCP_OAUTH_INTROSPECTION_CLIENT_SECRET',
      { ...OAUTH, ...INTROSPECTION, MCP_OAUTH_INTROSPECTION_CLIENT_SECRET: undefined },
    ],
  ])('refuses %s and names it without its value', (name, settings) => {
    let message = '';
    try {
      loadConfig(settings);
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain(name);
    expect(message).not.toMatch(/letmein|MII/);
  });
});
