const MANAGED = ['create', 'read', 'update', 'delete', 'list'] as const;

/** Every permission that a key can hold, `<resource>.<verb>`. */
export const SCOPES = [
  ...verbs('workspaces', MANAGED),
  ...verbs('api_keys', MANAGED),
  ...verbs('virtual_keys', MANAGED),
  'completions.write',
  ...verbs('batches', MANAGED),
  // Providers keep their jobs for ever.
  ...verbs('fine_tuning', ['create', 'read', 'update', 'list']),
  ...verbs('threads', MANAGED),
  ...verbs('mcp_servers', MANAGED),
  'mcp.invoke',
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
