import {
  All,
  applyDecorators,
  Controller,
  Delete,
  Get,
  HttpCode,
  Post,
  Req,
  Res,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { OwnAuthentication, RequireScope } from '../../access/route-access.decorators.js';
import { StreamedBody } from '../../common/http/execution-context.js';
import type { McpOutcome } from '../proxy/mcp-proxy.types.js';
import { IdentityForwardingInterceptor } from './identity-forwarding.interceptor.js';
import { McpAccessGuard } from './mcp-access.guard.js';
import type { McpEndpoint } from './mcp-address.js';
import { McpAuthenticationGuard } from './mcp-authentication.guard.js';
import { McpCallInterceptor } from './mcp-call.interceptor.js';
import { AtMcpEndpoint, McpEdgeGuard } from './mcp-edge.guard.js';
import { McpForwarder } from './mcp-forwarder.js';

/** A call: authenticate, authorize, record, forward. For keys with the scope `mcp.invoke`, and for users' tokens. */
function McpCall(endpoint: McpEndpoint): MethodDecorator {
  return applyDecorators(
    McpAddress(endpoint),
    UseGuards(McpAuthenticationGuard, McpAccessGuard),
    UseInterceptors(McpCallInterceptor, IdentityForwardingInterceptor),
  );
}

/** An MCP address, for every method: McpEdgeGuard answers CORS and refuses other methods. */
function McpAddress(endpoint: McpEndpoint): MethodDecorator {
  return applyDecorators(
    AtMcpEndpoint(endpoint),
    RequireScope('mcp.invoke'),
    OwnAuthentication('McpAuthenticationGuard: callers may be users with tokens, as the server is configured'),
    StreamedBody(),
  );
}

/** Where MCP clients connect. A workspace (slug or id) precedes the server when several workspaces have a server of this name. */
@ApiExcludeController()
@Controller([':server', ':workspace/:server'])
@UseGuards(McpEdgeGuard)
export class McpController {
  constructor(private readonly forwarder: McpForwarder) {}

  @Post('mcp')
  @McpCall('mcp')
  message(@Req() request: Request, @Res() response: Response): Promise<McpOutcome> {
    return this.forwarder.forward(request, response);
  }

  @Get('mcp')
  @McpCall('mcp')
  stream(@Req() request: Request, @Res() response: Response): Promise<McpOutcome> {
    return this.forwarder.forward(request, response);
  }

  @Delete('mcp')
  @McpCall('mcp')
  endMcpSession(@Req() request: Request, @Res() response: Response): Promise<McpOutcome> {
    return this.forwarder.forward(request, response);
  }

  @All('mcp')
  @McpAddress('mcp')
  @HttpCode(204)
  preflight(@Res() response: Response): void {
    response.end();
  }

  /** The older transport (HTTP+SSE): one stream for the server's messages … */
  @Get('sse')
  @McpCall('sse')
  legacyStream(@Req() request: Request, @Res() response: Response): Promise<McpOutcome> {
    return this.forwarder.forward(request, response);
  }

  @All('sse')
  @McpAddress('sse')
  @HttpCode(204)
  legacyStreamPreflight(@Res() response: Response): void {
    response.end();
  }

  /** … and one address for the client's messages. */
  @Post('messages')
  @McpCall('messages')
  legacyMessage(@Req() request: Request, @Res() response: Response): Promise<McpOutcome> {
    return this.forwarder.forward(request, response);
  }

  @All('messages')
  @McpAddress('messages')
  @HttpCode(204)
  legacyMessagePreflight(@Res() response: Response): void {
    response.end();
  }
}
