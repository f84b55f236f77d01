import { ServerResponse, IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { GatewayError, invalidField } from '../common/errors/gateway.error.js';
import { McpError, RPC_CODES, rpcErrorText, sendRpcError } from './mcp-error.js';

describe('rpcErrorText', () => {
  it.each([
    ['a fault of the request', new GatewayError('permission_denied'), -32600, 'permission_denied', 'gateway'],
    ['a fault of the gateway', new GatewayError('internal_error'), -32603, 'internal_error', 'gateway'],
    ['a fault of the MCP server', new GatewayError('provider_failed'), -32603, 'provider_failed', 'provider'],
    [
      'an error with its own JSON-RPC code',
      new McpError('validation_failed', { rpcCode: RPC_CODES.headerMismatch }),
      -32020,
      'validation_failed',
      'gateway',
    ],
  ])('reports %s with its JSON-RPC code and source', (_what, error, rpcCode, code, source) => {
    expect(JSON.parse(rpcErrorText(error, 'x'))).toEqual({
      jsonrpc: '2.0',
      id: 'x',
      error: { code: rpcCode, message: error.message, data: { code, source } },
    });
  });

  it('names the field of a bad request, and has the id null when none is known', () => {
    const body: unknown = JSON.parse(rpcErrorText(invalidField('params.name', 'must be a string')));
    expect(body).toMatchObject({ id: null, error: { data: { param: 'params.name', details: [{}] } } });
  });
});

it('closes the connection of an answer that has begun when it sends a JSON-RPC error', () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  response.flushHeaders();
  sendRpcError(response, new GatewayError('internal_error'));
  expect(response.destroyed).toBe(true);
});
