import type { Request, Response } from 'express';
import type { McpOutcome } from '../proxy/mcp-proxy.types.js';
import type { McpEndpoint } from './mcp-address.js';
import type { Entered } from './mcp-entry.js';
import type { McpMessage } from './mcp-message.js';

/** A request on its way through, with what is learned about it. */
export interface Passage extends Entered {
  readonly request: Request;
  readonly response: Response;
  readonly endpoint: McpEndpoint;
  /** Undefined until it is read, and of what has none. */
  message: McpMessage | undefined;
}

/** What happened to a request that reached its server, or was answered in its place. */
export type PassageOutcome = Pick<
  McpOutcome,
  'status' | 'upstreamStatus' | 'wasSent' | 'error' | 'requestBytes' | 'responseBytes' | 'firstByteMs'
>;
