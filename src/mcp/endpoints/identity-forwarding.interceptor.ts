import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { requestOf } from '../../common/http/execution-context.js';
import { chain } from '../../common/maybe-promise.js';
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
  intercept(
    context: ExecutionContext,
    next: CallHandler<McpOutcome>,
  ): Observable<McpOutcome> | Promise<Observable<McpOutcome>> {
    const call = mcpCallOf(requestOf(context));
    return chain(this.outbound.headersFor(outboundRequestOf(call)), (headers) => {
      call.outboundHeaders = headers;
      return next.handle();
    });
  }
}
