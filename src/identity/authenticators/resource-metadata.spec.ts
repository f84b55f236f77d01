import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '../../config/environment.js';
import type { JwtValidationFields } from '../config/identity-config.js';
import { toJwtValidation } from '../config/to-jwt-validation.js';
import { SessionBinding } from '../sessions/session-binding.js';
import { ResourceMetadata } from './resource-metadata.js';

const OAUTH = {
  MCP_PUBLIC_URL: 'https://mcp.example.com/',
  MCP_OAUTH_ISSUER: 'https://auth.example.com',
  MCP_OAUTH_JWKS_URI: 'https://auth.example.com/keys',
};
const RESOURCE = 'https://mcp.example.com/team/search/mcp';
const ADDRESS = 'https://mcp.example.com/.well-known/oauth-protected-resource/team/search/mcp';
const UNKNOWN = { resource: RESOURCE };
const COMPANY = { jwksUri: 'https://login.example.com/keys', issuer: 'https://login.example.com' };
const BINDING = new SessionBinding([Buffer.from('secret')]);

function metadataOf(settings: Readonly<Record<string, string>> = OAUTH, binding = BINDING): ResourceMetadata {
  return new ResourceMetadata(loadConfig(settings), binding);
}

function serverWith(fields: JwtValidationFields): Parameters<ResourceMetadata['read']>[0] {
  return { resource: RESOURCE, jwtValidation: toJwtValidation({ ...COMPANY, ...fields }) };
}

/** The query of the address that an authenticated caller gets. */
function loginOf(metadata: ResourceMetadata, server: Parameters<ResourceMetadata['read']>[0]): string | undefined {
  return new URL(metadata.addressFor(server, true) ?? RESOURCE).searchParams.get('login') ?? undefined;
}

describe('ResourceMetadata for everybody', () => {
  it('returns the metadata of RFC 9728', () => {
    expect(metadataOf({ ...OAUTH, MCP_OAUTH_SCOPES: 'a,b' }).read(UNKNOWN, undefined)).toEqual({
      resource: RESOURCE,
      authorization_servers: ['https://auth.example.com'],
      bearer_methods_supported: ['header'],
      scopes_supported: ['a', 'b'],
    });
  });

  it.each<readonly [string, JwtValidationFields]>([
    ['has an identity provider', {}],
    ['requires tokens of its provider', { required: true }],
    ['has another header for tokens', { header_key: 'X-Id-Token' }],
    ['has an issuer without an address', { issuer: 'company' }],
  ])('returns the same for a server that %s as for a name without a server', (_what, fields) => {
    const server = serverWith(fields);
    for (const metadata of [metadataOf(), metadataOf({})]) {
      expect(metadata.read(server, undefined)).toEqual(metadata.read(UNKNOWN, undefined));
      expect(metadata.addressFor(server, false)).toEqual(metadata.addressFor(UNKNOWN, false));
    }
    expect(metadataOf({}).read(server, undefined)).toBeUndefined();
  });

  it('names the provider of a server that advertises it, before the configured authorization servers', () => {
    const listed = { ...OAUTH, MCP_OAUTH_AUTHORIZATION_SERVERS: 'https://a.example,https://b.example' };
    const server = serverWith({ advertise_issuer: true });
    const servers = ['https://login.example.com', 'https://a.example', 'https://b.example'];
    expect(metadataOf(listed).read(server, undefined)?.authorization_servers).toEqual(servers);
    expect(metadataOf({}).addressFor(server, false)).toBe(ADDRESS);
  });
});

describe('ResourceMetadata for an authenticated caller', () => {
  it('names the provider at an address of its own', () => {
    const metadata = metadataOf();
    const server = serverWith({ required: true });
    expect(metadata.addressFor(server, true)).toMatch(`${ADDRESS}?login=`);
    // Another replica, and the name alone: a browser may be asked to read it.
    expect(metadataOf().read(UNKNOWN, loginOf(metadata, server))?.authorization_servers).toEqual([COMPANY.issuer]);
  });

  it('has the usual address where everybody may know the same', () => {
    const metadata = metadataOf();
    expect(metadata.addressFor(UNKNOWN, true)).toBe(ADDRESS);
    expect(metadata.addressFor(serverWith({ advertise_issuer: true }), true)).toBe(ADDRESS);
    expect(metadata.addressFor(serverWith({ required: true, header_key: 'X-Id-Token' }), true)).toBeUndefined();
  });

  it('ignores a query that the gateway did not make for this resource', () => {
    const login = loginOf(metadataOf(), serverWith({})) ?? '';
    const elsewhere = { resource: 'https://mcp.example.com/team/other/mcp' };
    const strange = metadataOf(OAUTH, new SessionBinding([Buffer.from('another secret')]));
    const forged = Buffer.from('["https://evil.example"]').toString('base64url') + login.slice(login.lastIndexOf('-'));
    expect(metadataOf().read(elsewhere, login)?.authorization_servers).toEqual([OAUTH.MCP_OAUTH_ISSUER]);
    expect(strange.read(UNKNOWN, login)?.authorization_servers).toEqual([OAUTH.MCP_OAUTH_ISSUER]);
    for (const wrong of [forged, '', 'x', login.slice(1)]) {
      expect(metadataOf().read(UNKNOWN, wrong)?.authorization_servers).toEqual([OAUTH.MCP_OAUTH_ISSUER]);
    }
  });
});
