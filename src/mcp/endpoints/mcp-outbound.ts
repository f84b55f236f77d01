import { Injectable } from '@nestjs/common';
import { type MaybePromise, chain } from '../../common/maybe-promise.js';
import { Clock } from '../../common/time/clock.js';
import type { McpCaller } from '../../identity/claims/mcp-caller.js';
import { type Freshness, identityHeaderName } from '../../identity/config/identity-config.js';
import { IdentityForwarding, type IdentityHeader } from '../../identity/forwarding/identity-forwarding.js';
import { outboundHeaders } from '../../identity/headers/outbound-headers.js';
import type { RawHeader } from '../../identity/headers/raw-headers.js';
import type { TraceContext } from '../../telemetry/trace-headers.js';
import { contextOf } from '../../telemetry/request-context.js';
import type { UsableMcpServer } from '../servers/usable-mcp-server.js';
import type { McpCallContext } from './mcp-request.js';

export interface OutboundRequest {
  readonly server: UsableMcpServer;
  readonly caller: McpCaller;
  /** As the client sent them. */
  readonly client: readonly RawHeader[];
  /** The server's own session id. */
  readonly sessionId?: string | undefined;
  readonly traceId?: string | undefined;
  /** Of the span of the call, when the request is traced. */
  readonly traceContext?: TraceContext | undefined;
  /** How new the values of secret references have to be; default `cached`. */
  readonly secrets?: Freshness;
}

/** Makes all headers that a server gets: one builder for clients' requests, tests and previews. */
@Injectable()
export class McpOutbound {
  constructor(
    private readonly forwarding: IdentityForwarding,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws GatewayError `identity_forwarding_failed`: a server that wants an identity is never called without one
   * @throws GatewayError `secret_unavailable`: nor without a header that comes from a secret reference
   */
  headersFor(request: OutboundRequest): MaybePromise<ReadonlyMap<string, string>> {
    const { server, caller, secrets = 'cached' } = request;
    const identity = this.forwarding.headerFor(caller, server.identity.userIdentityForwarding, this.clock.now());
    return chain(identity, (known) =>
      chain(server.mapped.readHeaders(secrets), (mapped) => toHeaders(request, known, mapped)),
    );
  }
}

/** The request of a call, as its server gets it. */
export function outboundRequestOf(call: McpCallContext, secrets: Freshness = 'cached'): OutboundRequest {
  const { server, caller, headers: client, sessionId, traceContext, request } = call;
  const { traceId } = contextOf(request).trace;
  return { server, caller, client, sessionId, traceId, traceContext, secrets };
}

function toHeaders(
  { server, client, sessionId, traceId, traceContext }: OutboundRequest,
  identity: IdentityHeader | undefined,
  mappedHeaders: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const { userIdentityForwarding, forwardHeaders, jwtValidation } = server.identity;
  return outboundHeaders({
    client,
    forwardHeaders,
    identityHeaderName: userIdentityForwarding && identityHeaderName(userIdentityForwarding),
    tokenHeaderName: jwtValidation?.headerKey,
    sessionId,
    traceContext,
    staticHeaders: { ...server.headers, ...mappedHeaders },
    gatewayHeaders: {
      // Answers pass as bytes. A compressed one could not be read where tools are filtered.
      'accept-encoding': 'identity',
      ...(traceId === undefined ? {} : { 'x-gateway-trace-id': traceId }),
    },
    identityHeaders: identity && { [identity.name]: identity.value },
  });
}
