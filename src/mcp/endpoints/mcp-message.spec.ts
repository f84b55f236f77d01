import { describe, expect, it } from '@jest/globals';
import { inspectBody } from '../inspection/inspect-body.js';
import { type McpMessage, methodLabel } from './mcp-message.js';

describe('methodLabel', () => {
  const message = (method?: string): McpMessage => ({
    inspected: inspectBody(
      Buffer.from(JSON.stringify(method === undefined ? { id: 1, result: {} } : { id: 1, method })),
    ),
    tools: [],
  });

  it.each([
    ['a request of MCP', 'POST', message('prompts/list'), 'prompts/list'],
    ['a request of no revision of MCP', 'POST', message('made/up'), 'other'],
    ['a response', 'POST', message(), 'response'],
    ['a body without a message', 'POST', undefined, 'invalid'],
    ['a stream', 'GET', undefined, 'GET'],
    ['the end of a session', 'DELETE', undefined, 'DELETE'],
  ])('labels %s', (_what, httpMethod, read, label) => {
    expect(methodLabel(httpMethod, read)).toBe(label);
  });
});
