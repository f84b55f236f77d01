import { applyDecorators } from '@nestjs/common';
import { OwnAuthentication } from '../../access/own-authentication.decorator.js';
import { RequireScope } from '../../access/require-scope.decorator.js';
import { StreamedBody } from '../../common/http/streamed-body.decorator.js';

/** A route that passes a client on to an MCP server: keys with the scope `mcp.invoke`, or users' tokens. */
export function McpRoute(): MethodDecorator {
  return applyDecorators(
    RequireScope('mcp.invoke'),
    OwnAuthentication('McpEntry: callers may be users with tokens, as the server is configured'),
    StreamedBody(),
  );
}
