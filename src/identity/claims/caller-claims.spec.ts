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

describe('claimsOfCaller for a key with a user', () => {
  it("returns the claims of the key's user", () => {
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

  it('uses the user id as subject when there is no other', () => {
    expect(claimsOfCaller({ ...TENANT, key: { id: 'key-1', user: { user_id: 'u-42' } } })).toEqual({
      sub: 'u-42',
      user_id: 'u-42',
      ...OWN,
    });
  });

  it("does not let further claims replace the gateway's own", () => {
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

it('leaves out claims of a key that only an authority can make', () => {
  const claims = { iss: 'https://login.example.com', AMR: ['mfa'], iſs: 'x', scope: 'admin', department: 'R&D' };
  const user = { user_id: 'u-42', claims };
  expect(claimsOfCaller({ ...TENANT, key: { id: 'key-1', user } })).toEqual({
    sub: 'u-42',
    user_id: 'u-42',
    department: 'R&D',
    ...OWN,
  });
});

describe('claimsOfCaller for a service key', () => {
  it('marks the subject as a key and has no personal claims', () => {
    expect(claimsOfCaller({ ...TENANT, key: { id: 'key-1', user: null } })).toEqual({ sub: 'api_key:key-1', ...OWN });
  });

  it('leaves the workspace out for a key of the whole organisation', () => {
    const claims = claimsOfCaller({ organisationId: 'org-1', workspaceId: null, key: { id: 'key-1', user: null } });
    expect(claims).toEqual({ sub: 'api_key:key-1', organisation_id: 'org-1' });
  });
});

describe('claimsOfCaller for a token', () => {
  it('returns the claims of the token', () => {
    expect(claimsOfCaller({ ...TENANT, token: TOKEN })).toEqual({ ...TOKEN, ...OWN });
  });

  it('never takes the tenant or a gateway user from the token', () => {
    const token = { ...TOKEN, organisation_id: 'evil', workspace_id: 'evil', user_id: 'evil' };
    expect(claimsOfCaller({ ...TENANT, token })).toEqual({ ...TOKEN, ...OWN });
    expect(claimsOfCaller({ organisationId: 'org-1', workspaceId: null, token })).toEqual({
      ...TOKEN,
      organisation_id: 'org-1',
    });
  });

  it('leaves out what other programs could take for a claim that the gateway sets', () => {
    const disguised = { AUD: 'x', Org: 'x', Auth_Method: 'x', ORGANISATION_ID: 'x', uſer_id: 'x', ｅxp: 9 };
    const token = { ...TOKEN, ...disguised, Groups: ['a'], 'https://example.com/aud': 'x' };
    expect(claimsOfCaller({ ...TENANT, token })).toEqual({
      ...TOKEN,
      Groups: ['a'],
      'https://example.com/aud': 'x',
      ...OWN,
    });
  });

  it("reads user, scopes and client from the providers' own claims", () => {
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

  it('leaves claims out that are null', () => {
    expect(claimsOfCaller({ ...TENANT, token: { sub: 'a', email: null } })).toEqual({ sub: 'a', ...OWN });
  });
});

describe('claimsOfCaller for a key and a token', () => {
  it('returns the tenant of the key and the user of the token', () => {
    const claims = claimsOfCaller({ ...TENANT, key: { id: 'key-1', user: USER }, token: TOKEN });
    expect(claims).toEqual({ ...TOKEN, user_id: 'u-42', ...OWN });
  });

  it('does not merge a key and a token of two people', () => {
    const token = { ...TOKEN, sub: 'idp|43' };
    expect(claimsOfCaller({ ...TENANT, key: { id: 'key-1', user: USER }, token })).toEqual({ ...token, ...OWN });
    const withoutSub = { user_id: 'u-42' };
    expect(claimsOfCaller({ ...TENANT, key: { id: 'key-1', user: withoutSub }, token: TOKEN })).not.toHaveProperty(
      'user_id',
    );
  });

  it('returns only the user of the token beside a service key', () => {
    expect(claimsOfCaller({ ...TENANT, key: { id: 'key-1', user: null }, token: TOKEN })).toEqual({ ...TOKEN, ...OWN });
  });
});
