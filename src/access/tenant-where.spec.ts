import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { SLUG_PATTERN } from '../common/slug.js';
import type { Principal } from './principal.js';
import { refWhere, tenantWhere } from './tenant-where.js';

const CALLER: Principal = {
  kind: 'api_key',
  id: 'key-1',
  organisationId: 'org-1',
  workspaceId: null,
  scopes: new Set(),
  user: null,
  enforcedMetadata: {},
  defaultMetadata: {},
  rateLimits: [],
  expiresAt: null,
};

describe('tenantWhere', () => {
  it('shows all workspaces to a caller of the whole organisation', () => {
    expect(tenantWhere(CALLER)).toEqual({ organisationId: 'org-1' });
  });

  it('limits a caller of one workspace to it', () => {
    expect(tenantWhere({ ...CALLER, workspaceId: 'ws-1' })).toEqual({ organisationId: 'org-1', workspaceId: 'ws-1' });
  });
});

describe('refWhere', () => {
  it('distinguishes ids from slugs', () => {
    const id = randomUUID();
    expect(refWhere(id)).toEqual({ id });
    expect(refWhere('search-team')).toEqual({ slug: 'search-team' });
  });

  it.each(['', '\0', 'a b', '%00', "' OR 1=1 --", '../other', 'ü'])('matches no row for the reference %j', (junk) => {
    expect(refWhere(junk)).toEqual({ slug: '' });
    expect('').not.toMatch(SLUG_PATTERN);
  });
});
