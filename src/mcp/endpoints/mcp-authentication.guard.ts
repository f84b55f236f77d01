import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { requestOf } from '../../common/http/execution-context.js';
import { type MaybePromise, chain } from '../../common/maybe-promise.js';
import { contextOf } from '../../telemetry/request-context.js';
import { McpAdmission } from './mcp-admission.js';
import { incomingMcpRequest, McpCallContext } from './mcp-request.js';

/** Who calls: the owner of an API key, a user of an external identity provider, or a user with an OAuth token. */
@Injectable()
export class McpAuthenticationGuard implements CanActivate {
  constructor(private readonly admission: McpAdmission) {}

  /**
   * @throws GatewayError 401 with a challenge that says where to log in; otherwise as McpAdmission, and `validation_failed`
   *   for a broken tracing header
   */
  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const request = requestOf(context);
    const requestContext = contextOf(request);
    requestContext.assertTraceable();
    const incoming = incomingMcpRequest(request);
    return chain(this.admission.authenticate(incoming), (authenticated) => {
      const { caller, server } = authenticated;
      request.mcpCall = new McpCallContext(request, incoming, authenticated);
      requestContext.noteCaller(caller.principal);
      requestContext.noteUse(server);
      requestContext.facts.mcp_server = server.slug;
      return true;
    });
  }
}
