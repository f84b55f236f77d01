export const MCP_TRANSPORTS = ['streamable_http', 'sse'] as const;
export type McpTransport = (typeof MCP_TRANSPORTS)[number];

export const MCP_AUTH_TYPES = ['none', 'headers'] as const;
export type McpAuthType = (typeof MCP_AUTH_TYPES)[number];

/** MCP's own names: `legacy` for its versions with a handshake, `modern` for those without. */
export type McpEra = 'modern' | 'legacy' | 'both';

/** Milliseconds. */
export interface McpTimeouts {
  /** Until the answer to a POST or DELETE begins; open streams have no limit. */
  readonly first_byte_ms?: number;
}
