import type { ErrorCode } from '../../common/errors/error-codes.js';
import type { JsonObject } from '../../common/json/read.js';
import { VERSION } from '../../common/constants.js';
import type { GuardedStreamFetch } from '../../upstream/egress/guarded-stream-fetch.js';
import type { McpServerTestResponse } from '../servers/mcp-server.response.js';
import type { UsableMcpServer } from '../servers/usable-mcp-server.js';
import type { ToolList } from './tool-pages.js';

/** The gateway's own name, when it is the client of an MCP server. */
export const CLIENT_INFO = { name: 'tollgate', version: VERSION } as const;

/** A list of tools with all their schemas is long. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** The address of a server. */
export type Reachable = Pick<UsableMcpServer, 'url' | 'transport'>;

/** The server's description of itself, and its tools. */
export type ProbeResult = Pick<McpServerTestResponse, 'era' | 'protocol_version' | 'protocol_versions' | 'server'> &
  ToolList;

/** How the requests of one probe are sent. */
export interface ProbeTransport {
  /** Sent with every request: credentials and configured headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly network: GuardedStreamFetch;
  /** Of the whole probe. Also aborted when an answer is too long. */
  readonly deadline: AbortSignal;
}

/** The call of one tool. */
export interface ToolRequest {
  readonly params: { readonly name: string; readonly arguments: JsonObject };
  readonly timeoutMs: number;
  /** Called before the call is sent: from then on the tool may have run. */
  readonly onSend: () => void;
}

/** What a server returned: the result of the tool, or an error of JSON-RPC. */
export type ToolAnswer =
  { readonly result: JsonObject } | { readonly error: { readonly code: number; readonly message: string } };

/** The error for an answer that says nothing but its status. */
export function errorCodeForStatus(status: number | undefined): ErrorCode {
  if (status === 401 || status === 403) return 'provider_credential_rejected';
  return status !== undefined && status >= 400 && status < 500 ? 'provider_rejected' : 'provider_failed';
}
