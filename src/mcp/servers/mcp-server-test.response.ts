import { ApiProperty } from '@nestjs/swagger';

export class McpServerInfoResponse {
  readonly name: string;
  readonly version: string;
}

export class McpServerTestResponse {
  /** Whether the server took the gateway for a client and told its tools. */
  readonly ok: boolean;
  readonly latency_ms: number;
  /** Revision of MCP that both agreed on; null where the transport does not say. */
  readonly protocol_version?: string | null;
  /** What the server calls itself. */
  @ApiProperty({ type: McpServerInfoResponse, nullable: true })
  readonly server?: McpServerInfoResponse | null;
  /** How many tools it has. */
  readonly tools?: number;
  /** Code of the error, when it did not. */
  readonly error?: string;
}

export class IdentityPreviewResponse {
  /** Header that tells who the user is. */
  readonly header_name: string;
  /** What it says; null where it is the user's own token. */
  readonly claims: Record<string, unknown> | null;
}

export class HeadersPreviewResponse {
  readonly object: 'mcp-headers-preview';
  /** As the server would get them; secrets masked. */
  readonly headers: Record<string, string>;
  /** null: the server would not be told who the user is. */
  @ApiProperty({ type: IdentityPreviewResponse, nullable: true })
  readonly identity: IdentityPreviewResponse | null;
}
