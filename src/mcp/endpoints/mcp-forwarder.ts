import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { McpProxy } from '../proxy/mcp-proxy.js';
import type { McpForward, McpOutcome } from '../proxy/mcp-proxy.types.js';
import { McpAnswerHooks } from './mcp-answer-hooks.js';
import { rpcIdOf } from './mcp-message.js';
import { McpOutbound, outboundRequestOf } from './mcp-outbound.js';
import { type McpCallContext, mcpCallOf } from './mcp-request.js';

export const DEFAULT_FIRST_BYTE_MS = 120_000;

type Headers = ReadonlyMap<string, string>;

/** Forwards an authorized call to its server, and the answer back. */
@Injectable()
export class McpForwarder {
  constructor(
    private readonly proxy: McpProxy,
    private readonly outbound: McpOutbound,
    private readonly hooks: McpAnswerHooks,
  ) {}

  /** Resolves when the answer is over. Failures of the server are answered and are part of the outcome. */
  async forward(request: Request, response: Response): Promise<McpOutcome> {
    const call = mcpCallOf(request);
    const { server, url, outboundHeaders, callerKey, body } = call;
    if (outboundHeaders === undefined) throw new Error('IdentityForwardingInterceptor did not run');
    return this.proxy.forward({
      request,
      response,
      target: {
        url,
        transport: server.transport,
        timeouts: { firstByteMs: server.timeouts.first_byte_ms ?? DEFAULT_FIRST_BYTE_MS },
      },
      headers: flat(outboundHeaders),
      renewHeaders: this.renewalOf(call, outboundHeaders),
      callerKey,
      holder: server,
      body,
      expectsAnswer: call.message?.inspected.messages.some(({ kind }) => kind === 'request') ?? false,
      rpcId: () => rpcIdOf(call.message),
      hooks: this.hooks.hooksFor(call),
    });
  }

  /** Undefined when no header comes from a secret reference: the server would refuse the stored ones again. */
  private renewalOf(call: McpCallContext, refused: Headers): McpForward['renewHeaders'] {
    const names = call.server.mapped.headerNames.map((name) => name.toLowerCase());
    if (names.length === 0) return undefined;
    return async () => {
      const renewed = await this.renewed(call);
      const isOther = renewed !== undefined && names.some((name) => renewed.get(name) !== refused.get(name));
      return isOther ? flat(renewed) : undefined;
    };
  }

  /** Undefined when the secrets cannot be read again: the client then gets the refusal that came first. */
  private async renewed(call: McpCallContext): Promise<Headers | undefined> {
    try {
      return await this.outbound.headersFor(outboundRequestOf(call, 'fresh'));
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'secret_unavailable') return undefined;
      throw error;
    }
  }
}

/** As McpProxy takes them; it sets the content length itself. */
function flat(headers: Headers): readonly string[] {
  const fields: string[] = [];
  for (const [name, value] of headers) if (name !== 'content-length') fields.push(name, value);
  return fields;
}
