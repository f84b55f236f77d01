import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { JsonText } from '../../common/json/write.js';
import { requestOf, RouteMetadataCache } from '../../common/http/execution-context.js';
import { type MaybePromise, chain } from '../../common/maybe-promise.js';
import { AppConfig } from '../../config/environment.js';
import { toRawHeaders } from '../../identity/headers/raw-headers.js';
import { contextOf } from '../../telemetry/request-context.js';
import { checkEdge } from '../edge/mcp-edge.js';
import { type PublicHosts, publicHosts } from '../edge/public-hosts.js';
import { rpcErrorText } from '../mcp-error.js';
import { McpProxy } from '../proxy/mcp-proxy.js';
import { McpServerDirectory } from '../servers/mcp-server.directory.js';
import type { UsableMcpServer } from '../servers/usable-mcp-server.js';
import { addressOf, assertMethod, type McpEndpoint, METHODS_OF, portOf } from './mcp-address.js';
import { McpAdmission } from './mcp-admission.js';
import { rpcIdOf } from './mcp-message.js';
import { type AddressedServer, IncomingMcpRequest } from './mcp-request.js';

const MCP_ENDPOINT = 'tollgate:mcp-endpoint';

/** Names the endpoint of a route for McpEdgeGuard. */
export const AtMcpEndpoint = (endpoint: McpEndpoint): MethodDecorator => SetMetadata(MCP_ENDPOINT, endpoint);

/**
 * First guard of every MCP route, before authentication: address, Host, Origin, CORS headers, method. From here on, errors
 * of the route are JSON-RPC. The protected identity headers are gone by now: the context middleware deletes them on every route.
 */
@Injectable()
export class McpEdgeGuard implements CanActivate {
  private readonly endpoints: RouteMetadataCache<McpEndpoint>;
  private readonly hostsByPort = new Map<number, PublicHosts>();

  constructor(
    reflector: Reflector,
    private readonly admission: McpAdmission,
    private readonly directory: McpServerDirectory,
    private readonly proxy: McpProxy,
    private readonly config: AppConfig,
  ) {
    this.endpoints = new RouteMetadataCache((route) => endpointOf(reflector.get(MCP_ENDPOINT, route.getHandler())));
  }

  /** @throws GatewayError `not_found`, `permission_denied`, `method_not_allowed` */
  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const request = requestOf(context);
    const response = context.getArgByIndex<Response>(1);
    const endpoint = this.endpoints.of(context);
    // Thrown before the error form is set: what cannot be a server's address gets the 404 of every other unknown address.
    const address = addressOf(request);
    request.errorForm = (error) => new JsonText(rpcErrorText(error, rpcIdOf(request.mcpCall?.message)));
    const incoming = new IncomingMcpRequest(address, endpoint, portOf(request), toRawHeaders(request.rawHeaders));
    request.mcp = incoming;
    this.countCall(request, response);
    return chain(this.serverForBrowser(request, incoming), (server) => {
      checkEdge({ request, headers: incoming.headers }, response, {
        publicHosts: this.publicHosts(incoming.port),
        allowedOrigins: server?.allowedOrigins ?? [],
        tokenHeader: server?.identity.jwtValidation?.headerKey,
        methods: METHODS_OF[endpoint],
      });
      assertMethod(request.method, endpoint);
      return true;
    });
  }

  /** A shutdown waits for the calls that have begun to come in, until their responses are closed. */
  private countCall(request: Request, response: Response): void {
    if (request.method === 'GET' || contextOf(request).caller.aborted) return;
    response.once('close', this.proxy.expectCall());
  }

  /** The server that a browser asks for. A preflight brings no credentials, and a page may read why it is refused. */
  private serverForBrowser(request: Request, incoming: IncomingMcpRequest): MaybePromise<UsableMcpServer | undefined> {
    if (request.headers.origin === undefined) return undefined;
    if (request.method === 'OPTIONS') return this.directory.findUnambiguous(incoming.address);
    return unlessRefused(() => this.admission.addressedServer(incoming)).then((addressed) =>
      addressed === undefined ? this.directory.findUnambiguous(incoming.address) : addressed.server,
    );
  }

  private publicHosts(port: number): PublicHosts {
    const known = this.hostsByPort.get(port);
    if (known !== undefined) return known;
    const { MCP_PUBLIC_URL } = this.config;
    const hosts = publicHosts(MCP_PUBLIC_URL === undefined ? [] : [MCP_PUBLIC_URL], port);
    this.hostsByPort.set(port, hosts);
    return hosts;
  }
}

function endpointOf(endpoint: McpEndpoint | undefined): McpEndpoint {
  if (endpoint === undefined) throw new Error('an MCP route needs @AtMcpEndpoint()');
  return endpoint;
}

/** McpAuthenticationGuard throws the refusal, once the page is known to be allowed to read it. */
async function unlessRefused(find: () => MaybePromise<AddressedServer>): Promise<AddressedServer | undefined> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return undefined;
  }
}
