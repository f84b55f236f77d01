import { ApiProperty } from '@nestjs/swagger';
import type { McpEra } from './mcp-server.types.js';

export class McpServerInfoResponse {
  /** The name of the server software. */
  readonly name: string;
  /** The version of the server software. */
  readonly version: string;
}

export class McpServerTestResponse {
  /** Whether the server took the gateway for a client and told its tools. */
  readonly ok: boolean;
  /** How long the test took. */
  readonly latency_ms: number;
  /**
   * For which clients the server is: `modern`, for those of revision 2026-07-28 and later, without handshake and session;
   * `legacy`, for those that begin with `initialize`; or `both`.
   */
  readonly era?: McpEra;
  /** Revision of MCP in which it was asked. */
  readonly protocol_version?: string;
  /** Revisions that it named, or agreed on. */
  readonly protocol_versions?: string[];
  /** What the server calls itself. */
  @ApiProperty({ type: McpServerInfoResponse, nullable: true })
  readonly server?: McpServerInfoResponse | null;
  /**
   * How many tools it has told, each name once and without those that cannot be stored. It is asked for no more than 50 pages, and for
   * none behind the 1,000th tool. At most 1,000 are remembered.
   */
  readonly tools?: number;
  /** Code of the error, when it did not. */
  readonly error?: string;
  /**
   * What is wrong with a secret reference, as its own test tells it, when `error` is `secret_unavailable` for that; or
   * `value_not_valid`, when the field does not take the secret.
   */
  readonly secret_error?: string;
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
