/** What a key may do, in a few words. @param own scopes of who looks; a key that has them all may do everything */
export function scopesInWords(scopes: readonly string[], own: readonly string[]): string {
  if (own.length > 0 && own.every((scope) => scopes.includes(scope))) return 'everything that you may';
  const has = (pattern: RegExp): boolean => scopes.some((scope) => pattern.test(scope));
  const parts = [
    has(/^completions\.write$/) && 'call models',
    has(/^mcp\.invoke$/) && 'call MCP servers',
    has(/^(?:batches|fine_tuning|threads)\.(?:create|update)$/) && 'run jobs',
    has(MANAGES) && 'manage',
    !has(MANAGES) && has(READS) && 'read',
  ];
  return parts.filter(Boolean).join(', ') || 'nothing';
}

const RESOURCES =
  'workspaces|api_keys|identities|virtual_keys|model_routes|secret_references|webhooks|policies|prices|mcp_servers';
const MANAGES = new RegExp(`^(?:${RESOURCES})\\.(?:create|update|delete|use|assert)$`);
const READS = new RegExp(`^(?:${RESOURCES}|usage|logs|audit_logs)\\.(?:read|list)$`);
