import { SCOPES, type Scope } from './scopes.js';

export const ROLES = ['owner', 'admin', 'member', 'auditor'] as const;
export type Role = (typeof ROLES)[number];

/** What members do beside reading: call, run jobs, and make keys for their programs. */
const WORK: ReadonlySet<Scope> = new Set<Scope>([
  'completions.write',
  'mcp.invoke',
  'batches.create',
  'batches.update',
  'fine_tuning.create',
  'fine_tuning.update',
  'threads.create',
  'threads.update',
  'threads.delete',
  'api_keys.create',
  'api_keys.update',
]);

/** What an organisation has its owners for. */
const OWNERS: ReadonlySet<Scope> = new Set<Scope>(['identities.assert', 'workspaces.create', 'workspaces.delete']);

/** Named sets of scopes, for people who log in. */
const HAS: Readonly<Record<Role, (scope: Scope) => boolean>> = {
  owner: () => true,
  admin: (scope) => !OWNERS.has(scope),
  member: (scope) => (isRead(scope) && scope !== 'audit_logs.list') || WORK.has(scope),
  auditor: isRead,
};

export function scopesOf(role: Role): Scope[] {
  return SCOPES.filter(HAS[role]);
}

function isRead(scope: Scope): boolean {
  return /\.(?:read|list)$/.test(scope);
}
