/** Whom a call is for, where the connections to an origin are shared out: a virtual key or an MCP server. */
export interface ConnectionHolder {
  readonly id: string;
  readonly organisationId: string;
}
