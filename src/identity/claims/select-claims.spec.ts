import { describe, expect, it } from '@jest/globals';
import { selectClaims } from './select-claims.js';

const CLAIMS = {
  client_id: 'cli',
  sub: 'u-1',
  email: 'a@example.com',
  groups: ['a'],
  exp: 1,
  organisation_id: 'org-1',
  workspace_id: 'ws-1',
  user_id: 'u',
  username: 'ann',
  scope: 'x',
};

describe('selectClaims', () => {
  it('returns the eight default claims in order when the server names none', () => {
    expect(Object.keys(selectClaims(CLAIMS))).toEqual([
      'sub',
      'email',
      'username',
      'user_id',
      'workspace_id',
      'organisation_id',
      'scope',
      'client_id',
    ]);
  });

  it('returns the named claims in the order of the names', () => {
    expect(JSON.stringify(selectClaims(CLAIMS, ['groups', 'email', 'sub']))).toBe(
      '{"groups":["a"],"email":"a@example.com","sub":"u-1"}',
    );
  });

  it('leaves unknown claims out', () => {
    expect(selectClaims(CLAIMS, ['nobody', 'sub', 'toString', 'constructor', '__proto__'])).toEqual({ sub: 'u-1' });
    expect(selectClaims({}, ['sub'])).toEqual({});
    expect(selectClaims({})).toEqual({});
  });

  it('accepts any name of a claim', () => {
    const claims: unknown = JSON.parse('{"__proto__":{"admin":true},"sub":"a"}');
    const selected = selectClaims(Object(claims), ['__proto__']);
    expect(JSON.stringify(selected)).toBe('{"__proto__":{"admin":true}}');
    expect(Object.getPrototypeOf(selected)).toBe(Object.prototype);
  });
});
