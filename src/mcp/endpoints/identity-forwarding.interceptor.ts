import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { requestOf } from '../../common/http/execution-context.js';
import type { McpOutcome } from '../proxy/mcp-proxy.types.js';
import { McpOutbound, outboundRequestOf } from './mcp-outbound.js';
import { mcpCallOf } from './mcp-request.js';

/**
 * Who the server learns is calling: the caller's claims, through the server's forwarder, into the headers of the call. The identity
 * is written last. Fails closed: when a configured identity cannot be made, the call fails and the server is not called.
 */
@Injectable()
export class IdentityForwardingInterceptor implements NestInterceptor<McpOutcome, McpOutcome> {
  constructor(private readonly outbound: McpOutbound) {}

  /** @throws GatewayError as McpOutbound */
  async intercept(context: ExecutionContext, next: CallHandler<McpOutcome>): Promise<Observable<McpOutcome>> {
    const call = mcpCallOf(requestOf(context));
    const headers = this.outbound.headersFor(outboundRequestOf(call));
    call.outboundHeaders = headers instanceof Promise ? await headers : headers;
    return next.handle();
  }
}
