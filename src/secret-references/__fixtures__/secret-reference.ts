import type { SecretReference } from '../secret-reference.entity.js';

const ROW = {
  id: 'a',
  organisationId: 'o',
  slug: 'a',
  name: 'A',
  description: null,
  managerType: 'vendorC_vault',
  spelling: 'interface',
  authConfig: {},
  sealedAuthConfig: null,
  secretPath: 'secret/a',
  secretKey: null,
  secretVersion: null,
  allowAllWorkspaces: true,
  allowedHosts: null,
  allowedProviders: null,
  allowedWorkspaces: [],
  tags: null,
  revision: 1,
  createdBy: 'k',
  lastResolvedAt: null,
  lastError: null,
  createdAt: new Date(0),
  updatedAt: new Date(0),
} satisfies SecretReference;

/** A whole row, without stored secrets unless told otherwise. */
export function secretReference(changes: Partial<SecretReference> = {}): SecretReference {
  return { ...ROW, ...changes };
}
