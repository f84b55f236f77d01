/**
 * Headers by which MCP servers are told who the user is, by their default names, in lower case: only the gateway sets them,
 * whatever a server's configuration says.
 */
export const IDENTITY_HEADERS: ReadonlySet<string> = new Set(['x-user-claims', 'x-user-jwt']);
