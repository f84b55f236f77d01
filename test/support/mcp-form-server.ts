import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { type McpSdkServer, startMcpServer } from './mcp-servers.js';

/** A server whose tools take arguments of every kind that a form has. */
export function startFormServer(): Promise<McpSdkServer> {
  return startMcpServer({ create: createServer });
}

function createServer(): McpServer {
  const server = new McpServer({ name: 'forms', version: '1.0.0' });
  const inputSchema = {
    title: z.string().describe('Title of the issue.'),
    priority: z.enum(['low', 'high']),
    estimate: z.number().int().optional().describe('Hours.'),
    urgent: z.boolean().optional(),
    labels: z.array(z.string()).optional(),
    details: z.record(z.string(), z.unknown()).optional(),
  };
  const description = 'Creates an issue, and returns what it was called with.';
  server.registerTool('create_issue', { description, inputSchema }, (args) => ({
    content: [{ type: 'text', text: `created ${JSON.stringify(args)}` }],
  }));
  const searchSchema = {
    text: z.string(),
    team: z.string().nullable().default(null),
    limit: z.number().int().nullable().default(null),
    near: z.object({ street: z.string(), zip: z.number() }).optional(),
  };
  server.registerTool('find_issues', { description: 'Finds issues.', inputSchema: searchSchema }, (args) => ({
    content: [{ type: 'text', text: `found by ${JSON.stringify(args)}` }],
  }));
  server.registerTool('delete_issue', { description: 'Always fails.', inputSchema: {} }, () => {
    throw new Error('the issue is locked');
  });
  return server;
}
