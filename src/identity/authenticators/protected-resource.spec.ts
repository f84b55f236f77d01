import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '../../config/environment.js';
import { bearerChallenge, relayedChallenge } from './bearer-challenge.js';
import { resourceAt, resourceMetadataUrl } from './protected-resource.js';

const OAUTH = {
  MCP_PUBLIC_URL: 'https://mcp.example.com/',
  MCP_OAUTH_ISSUER: 'https://auth.example.com',
  MCP_OAUTH_JWKS_URI: 'https://auth.example.com/keys',
};
const SERVER = { resource: 'https://mcp.example.com/team/search/mcp' };

describe('resourceAt and resourceMetadataUrl', () => {
  it('build the address of a server from MCP_PUBLIC_URL', () => {
    expect(resourceAt('/team/search/mcp', loadConfig(OAUTH))).toBe(SERVER.resource);
    expect(resourceAt('/search/mcp', loadConfig({ PORT: '9000' }))).toBe('http://localhost:9000/search/mcp');
  });

  it('put the metadata where RFC 9728 defines it', () => {
    expect(resourceMetadataUrl(SERVER.resource)).toBe(
      'https://mcp.example.com/.well-known/oauth-protected-resource/team/search/mcp',
    );
  });
});

describe('bearerChallenge', () => {
  it('quotes its parameters', () => {
    expect(bearerChallenge({ error: 'invalid_token', errorDescription: 'a "b" \\ é\n' })).toBe(
      'Bearer error="invalid_token", error_description="a \\"b\\" \\\\ ??"',
    );
  });

  it('always has a parameter', () => {
    expect(bearerChallenge({})).toBe('Bearer realm="tollgate"');
    expect(bearerChallenge({ scopes: [] })).toBe('Bearer realm="tollgate"');
  });
});

describe('relayedChallenge', () => {
  const OURS = 'https://mcp.example.com/.well-known/oauth-protected-resource/search/mcp';

  it.each([
    ['Bearer error="invalid_token"', 'error="invalid_token"'],
    ['bearer  Error = invalid_token ,scope="a b"', 'error="invalid_token", scope="a b"'],
    ['Bearer scope=files:write, error=insufficient_scope', 'scope="files:write", error="insufficient_scope"'],
    ['Basic realm="Bearer error=\\"x\\"", Bearer error="y", Digest nonce="n"', 'error="y"'],
    ['Bearer acr_values="strong \\"one\\"", max_age=300', 'acr_values="strong \\"one\\"", max_age="300"'],
    ['Bearer error="caf\u00e9", error="other"', 'error="caf?"'],
    ['Negotiate abc==, Bearer error="x"', 'error="x"'],
  ])('keeps the request of the server and adds our metadata: %s', (said, kept) => {
    expect(relayedChallenge([said], OURS)).toBe(`Bearer resource_metadata="${OURS}", ${kept}`);
    expect(relayedChallenge(['Basic realm="x"', said], undefined)).toBe(`Bearer ${kept}`);
  });

  it.each([
    'resource_metadata="https://evil.example/"',
    'x-resource_metadata="https://evil.example/"',
    "resource_metadata*=UTF-8''https%3A%2F%2Fevil.example%2F",
    'error_description="Resource_Metadata=https://evil.example/m x"',
    'authorization_uri="https://evil.example/", error_uri="https://evil.example/", realm="https://evil.example/"',
  ])('drops everything that names another login: %s', (said) => {
    expect(relayedChallenge([`Bearer ${said}`], OURS)).toBeUndefined();
    expect(relayedChallenge([`Bearer ${said}, error="e"`], undefined)).toBe('Bearer error="e"');
  });

  it.each(['', 'Bearer', 'Basic realm="x"', 'error="x"', '"Bearer error=x', `Bearer error="${'\\"'.repeat(2_000)}"`])(
    'returns nothing for a challenge that asks for nothing or too much: %s',
    (said) => {
      expect(relayedChallenge([said], OURS)).toBeUndefined();
    },
  );
});
