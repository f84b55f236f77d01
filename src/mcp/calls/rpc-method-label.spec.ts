import { describe, expect, it } from '@jest/globals';
import type { McpMessage } from '../endpoints/mcp-message.js';
import { inspectBody } from '../inspection/inspect-body.js';
import { methodLabel } from './rpc-method-label.js';

describe('the label of a method', () => {
  const message = (method?: string): McpMessage => ({
    inspected: inspectBody(
      Buffer.from(JSON.stringify(method === undefined ? { id: 1, result: {} } : { id: 1, method })),
    ),
    tools: [],
  });

  it.each([
    ['a request', 'POST', message('prompts/list'), 'prompts/list'],
    ['a request that nobody knows', 'POST', message('made/up'), 'other'],
    ['a response', 'POST', message(), 'response'],
    ['no message', 'POST', undefined, 'invalid'],
    ['a stream', 'GET', undefined, 'GET'],
    ['the end of a session', 'DELETE', undefined, 'DELETE'],
  ])('of %s tells which', (_what, httpMethod, read, label) => {
    expect(methodLabel(httpMethod, read)).toBe(label);
  });
});
