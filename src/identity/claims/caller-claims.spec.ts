import { describe, expect, it } from '@jest/globals';
import type { KeyUser } from '../../access/principal.js';
import { claimsOfCaller } from './caller-claims.js';

const TENANT = { organisationId: 'org-1', workspaceId: 'ws-1' };
const OWN = { organisation_id: 'org-1', workspace_id: 'ws-1' };
const USER: KeyUser = {
  user_id: 'u-42',
  email: 'jose@example.com',
  username: 'José',
  sub: 'idp|42',
  claims: { department: 'R&D', groups: ['a', 'b'] },
};
const TOKEN = { iss: 'https://login.example.com', sub: 'idp|42', email: 'token@example.com', exp: 4_000_000_000 };

describe('a key with a user', () => {
  it('tells what the key says of the user', () => {
    expect(claimsOfCaller({ ...TENANT, key: { id: 'key-1', user: USER } })).toEqual({
      sub: 'idp|42',
      email: 'jose@example.com',
      username: 'José',
      user_id: 'u-42',
      department: 'R&D',
      groups: ['a', 'b'],
      ...OWN,
    });
  });

  it('takes the user id for a subject where there is no other', () => {
    expect(claimsOfCaller({ ...TENANT, key: { id: 'key-1', user: { user_id: 'u-42' } } })).toEqual({
      sub: 'u-42',
      user_id: 'u-42',
      ...OWN,
    });
  });

  it("does not let further claims stand in for the gateway's own", () => {
    const claims = { organisation_id: 'evil', workspace_id: 'evil', user_id: 'evil', sub: 'evil', email: 'evil' };
    expect(claimsOfCaller({ ...TENANT, key: { id: 'key-1', user: { ...USER, claims } } })).toEqual({
      sub: 'idp|42',
      email: 'jose@example.com',
      username: 'José',
      user_id: 'u-42',
      ...OWN,
    });
  });
});

describe('a service key', () => {
  it('is told from a person, and has nothing personal', () => {
    expect(claimsOfCaller({ ...TENANT, key: { id: 'key-1', user: null } })).toEqual({ sub: 'api_key:key-1', ...OWN });
  });

  it('of a whole organisation names no workspace rather than null', () => {
    const claims = claimsOfCaller({ organisationId: 'org-1', workspaceId: null, key: { id: 'key-1', user: null } });
    expect(claims).toEqual({ sub: 'api_key:key-1', organisation_id: 'org-1' });
  });
});

describe('a token', () => {
  it('tells its own claims', () => {
    expect(claimsOfCaller({ ...TENANT, token: TOKEN })).toEqual({ ...TOKEN, ...OWN });
  });

  it("never tells the gateway's: not the tenant, and not a gateway user", () => {
    const token = { ...TOKEN, organisation_id: 'evil', workspace_id: 'evil', user_id: 'evil' };
    expect(claimsOfCaller({ ...TENANT, token })).toEqual({ ...TOKEN, ...OWN });
    expect(claimsOfCaller({ organisationId: 'org-1', workspaceId: null, token })).toEqual({
      ...TOKEN,
      organisation_id: 'org-1',
    });
  });

  it('may name user, scopes and client in the ways that providers have', () => {
    const token = { sub: 'a', preferred_username: 'ann', scp: ['mcp:read', 'mcp:write', 7], azp: 'app' };
    expect(claimsOfCaller({ ...TENANT, token })).toMatchObject({
      username: 'ann',
      scope: 'mcp:read mcp:write',
      client_id: 'app',
    });
    const both = { ...token, username: 'Ann', scope: 'openid', client_id: 'cli' };
    expect(claimsOfCaller({ ...TENANT, token: both })).toMatchObject({
      username: 'Ann',
      scope: 'openid',
      client_id: 'cli',
    });
  });

  it('leaves out what is null', () => {
    expect(claimsOfCaller({ ...TENANT, token: { sub: 'a', email: null } })).toEqual({ sub: 'a', ...OWN });
  });
});

describe('a key and a token', () => {
  it('tell the tenant of the key and the user of the token', () => {
    const claims = claimsOfCaller({ ...TENANT, key: { id: 'key-1', user: USER }, token: TOKEN });
    expect(claims).toEqual({ ...TOKEN, user_id: 'u-42', ...OWN });
  });

  it('of two people do not make a third', () => {
    const token = { ...TOKEN, sub: 'idp|43' };
    expect(claimsOfCaller({ ...TENANT, key: { id: 'key-1', user: USER }, token })).toEqual({ ...token, ...OWN });
    const withoutSub = { user_id: 'u-42' };
    expect(claimsOfCaller({ ...TENANT, key: { id: 'key-1', user: withoutSub }, token: TOKEN })).not.toHaveProperty(
      'user_id',
    );
  });

  it('of a service tell the user only', () => {
    expect(claimsOfCaller({ ...TENANT, key: { id: 'key-1', user: null }, token: TOKEN })).toEqual({ ...TOKEN, ...OWN });
  });
});
