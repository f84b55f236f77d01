import { describe, expect, it } from '@jest/globals';
import { GUARDS_METADATA, INTERCEPTORS_METADATA, METHOD_METADATA } from '@nestjs/common/constants.js';
import { RequestMethod } from '@nestjs/common';
import { IdentityForwardingInterceptor } from './identity-forwarding.interceptor.js';
import { McpAccessGuard } from './mcp-access.guard.js';
import { McpAuthenticationGuard } from './mcp-authentication.guard.js';
import { McpCallInterceptor } from './mcp-call.interceptor.js';
import { McpController } from './mcp.controller.js';
import { McpEdgeGuard } from './mcp-edge.guard.js';
import { incomingMcpRequest, mcpCallOf } from './mcp-request.js';

/** The handlers of the controller, with what Nest knows about them. */
function routes(): readonly { readonly name: string; readonly method: unknown; readonly parts: unknown }[] {
  return Object.getOwnPropertyNames(McpController.prototype).flatMap((name) => {
    const handler: unknown = Reflect.get(McpController.prototype, name);
    if (typeof handler !== 'function' || !Reflect.hasMetadata(METHOD_METADATA, handler)) return [];
    const parts = [GUARDS_METADATA, INTERCEPTORS_METADATA].map((key): unknown => Reflect.getMetadata(key, handler));
    return [{ name, method: Reflect.getMetadata(METHOD_METADATA, handler), parts }];
  });
}

describe('McpController', () => {
  it('puts the edge guard before every route', () => {
    expect(Reflect.getMetadata(GUARDS_METADATA, McpController)).toEqual([McpEdgeGuard]);
  });

  it('authenticates, authorizes, records and forwards the identity on every route that calls a server', () => {
    const calls = routes().filter(({ method }) => method !== RequestMethod.ALL);
    expect(calls.map(({ name }) => name)).toEqual([
      'message',
      'stream',
      'endMcpSession',
      'legacyStream',
      'legacyMessage',
    ]);
    for (const { parts } of calls) {
      expect(parts).toEqual([
        [McpAuthenticationGuard, McpAccessGuard],
        [McpCallInterceptor, IdentityForwardingInterceptor],
      ]);
    }
  });

  it('throws when a guard is missing before a stage that needs it', () => {
    expect(() => incomingMcpRequest({})).toThrow('McpEdgeGuard did not run');
    expect(() => mcpCallOf({})).toThrow('McpAuthenticationGuard did not run');
  });
});
