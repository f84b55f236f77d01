import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from '../../access/principal.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { Clock } from '../../common/time/clock.js';
import { hintForToken, McpAuthentication } from '../../identity/authenticators/mcp-authentication.js';
import type { McpServerIdentity } from '../../identity/config/identity-config.js';
import type { McpCaller } from '../../identity/claims/mcp-caller.js';
import { toRawHeaders } from '../../identity/headers/raw-headers.js';
import { callerOfPrincipal } from '../endpoints/caller-of-principal.js';
import { McpServerDefinitions } from './mcp-server.definitions.js';
import { McpServerStore } from './mcp-server.store.js';
import type { McpServer } from './mcp-server.entity.js';
import type { McpServerSurroundings, UsableMcpServer } from './usable-mcp-server.js';

/** A server, and the caller that tries it. */
export interface Trial {
  readonly row: McpServer;
  readonly server: UsableMcpServer;
  readonly caller: McpCaller;
  readonly identity: McpServerIdentity;
}

/** Opens a server for a test, a preview or a tool call, under the rules of its callers. */
@Injectable()
export class McpServerTrial {
  constructor(
    private readonly store: McpServerStore,
    private readonly definitions: McpServerDefinitions,
    private readonly authentication: McpAuthentication,
    private readonly clock: Clock,
  ) {}

  get(principal: Principal, ref: string): Promise<McpServer> {
    return this.store.get(principal, ref);
  }

  /**
   * @param surroundings the rules for clients; absent when every tool may be used
   * @throws GatewayError like McpAuthentication, with the request's key. A user's token beside the key is validated
   * too.
   */
  async open(
    principal: Principal,
    row: McpServer,
    request: Request,
    surroundings?: McpServerSurroundings,
  ): Promise<Trial> {
    const server = await this.definitions.openForUse(row, surroundings);
    const identity = { ...server.identity, resource: this.definitions.addressOf(server.slug) };
    return { row, server, identity, caller: await this.callerOf(principal, server, identity, request) };
  }

  private async callerOf(
    principal: Principal,
    server: UsableMcpServer,
    identity: McpServerIdentity,
    request: Request,
  ): Promise<McpCaller> {
    if (principal.kind !== 'api_key') {
      if (server.identity.jwtValidation?.isRequired === true) throw tokenRequired(server);
      return callerOfPrincipal(principal, server.workspaceId);
    }
    const evidence = { headers: toRawHeaders(request.rawHeaders), keyOwner: principal };
    return this.authentication.callerOf(evidence, identity, this.clock.now());
  }
}

/** An administrator's token does not belong to a user of the server, and is in the header that a user's token needs. */
function tokenRequired({ identity }: UsableMcpServer): GatewayError {
  return new GatewayError('token_invalid', {
    message: "The server needs a token of its users' identity provider: use a gateway key with such a token beside it.",
    hint: hintForToken(identity),
  });
}
