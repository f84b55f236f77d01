import type { Request, Response } from 'express';
import type { ToolDenial } from '../inspection/tool-denial.js';
import type { McpOutcome } from '../proxy/mcp-proxy.types.js';
import type { McpEndpoint } from './mcp-address.js';
import type { Entered } from './mcp-entry.js';
import type { Reading } from './mcp-message.js';

/** A request on its way through, with what is learned about it. */
export interface Passage extends Entered, Reading {
  readonly request: Request;
  readonly response: Response;
  readonly endpoint: McpEndpoint;
  /** Set when a disabled tool is called. */
  denial: ToolDenial | undefined;
}

/** What happened to a request that reached its server, or was answered in its place. */
export type PassageOutcome = Pick<
  McpOutcome,
  'status' | 'upstreamStatus' | 'wasSent' | 'error' | 'requestBytes' | 'responseBytes' | 'firstByteMs'
>;
