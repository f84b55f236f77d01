import type { GuardedStreamFetch } from '../../upstream/egress/guarded-stream-fetch.js';
import type { McpServerTestResponse } from '../servers/mcp-server-test.response.js';
import type { UsableMcpServer } from '../servers/usable-mcp-server.js';
import type { ToolList } from './tool-pages.js';

/** A list of tools with all their schemas is long. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Where a server is. */
export type Reachable = Pick<UsableMcpServer, 'url' | 'transport'>;

/** What a server says of itself. */
export type ProbeResult = Pick<McpServerTestResponse, 'era' | 'protocol_version' | 'protocol_versions' | 'server'> &
  ToolList;

/** How a server is spoken with. */
export interface Approach {
  /** What the gateway presents, on every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly network: GuardedStreamFetch;
  /** For all of it; also over when an answer is too long. */
  readonly deadline: AbortSignal;
}
