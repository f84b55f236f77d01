import type { Request, Response } from 'express';
import type { ToolDenial } from '../inspection/tool-denial.js';
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
