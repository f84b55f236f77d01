import { GatewayError } from '../common/errors/gateway.error.js';

const MANAGED = ['create', 'read', 'update', 'delete', 'list'] as const;

/** Every permission that a key can hold, `<resource>.<verb>`. */
export const SCOPES = [
  ...verbs('workspaces', MANAGED),
  ...verbs('api_keys', MANAGED),
  // To make or rotate the key of another user, which speaks for that user to MCP servers.
  'identities.assert',
  ...verbs('virtual_keys', MANAGED),
  ...verbs('model_routes', MANAGED),
  ...verbs('secret_references', MANAGED),
  // To map a field to a reference, which decides where its value is sent.
  'secret_references.use',
  ...verbs('webhooks', MANAGED),
  ...verbs('policies', MANAGED),
  // A price is never changed: a newer one takes its place.
  ...verbs('prices', ['create', 'read', 'list']),
  'completions.write',
  ...verbs('batches', MANAGED),
  // Providers never delete their jobs.
  ...verbs('fine_tuning', ['create', 'read', 'update', 'list']),
  ...verbs('threads', MANAGED),
  ...verbs('mcp_servers', MANAGED),
  'mcp.invoke',
  'usage.read',
  ...verbs('logs', ['read', 'list']),
  // Bodies of calls, also of other callers.
  'logs.bodies',
  'audit_logs.list',
] as const;

export type Scope = (typeof SCOPES)[number];

function verbs<Resource extends string, Verb extends string>(
  resource: Resource,
  list: readonly Verb[],
): `${Resource}.${Verb}`[] {
  return list.map((verb): `${Resource}.${Verb}` => `${resource}.${verb}`);
}

const KNOWN: ReadonlySet<string> = new Set(SCOPES);

export function isScope(text: string): text is Scope {
  return KNOWN.has(text);
}

/** @throws GatewayError `permission_denied` for a caller that lacks the scope */
export function assertScope({ scopes }: { readonly scopes: ReadonlySet<Scope> }, scope: Scope): void {
  if (!scopes.has(scope)) {
    throw new GatewayError('permission_denied', { message: `The caller lacks the scope ${scope}.` });
  }
}
