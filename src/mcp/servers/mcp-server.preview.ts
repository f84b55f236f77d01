import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { decodeJwt } from 'jose';
import type { Principal } from '../../access/principal.js';
import { isObject } from '../../common/json/read.js';
import { mask } from '../../common/mask.js';
import { Clock } from '../../common/time/clock.js';
import { McpAuthentication } from '../../identity/authenticators/mcp-authentication.js';
import type { McpCaller } from '../../identity/claims/mcp-caller.js';
import { identityHeaderName, type UserIdentityForwarding } from '../../identity/config/identity-config.js';
import { toRawHeaders } from '../../identity/headers/raw-headers.js';
import { callerOfPrincipal } from '../endpoints/caller-of-principal.js';
import { McpOutbound } from '../endpoints/mcp-outbound.js';
import { McpServerDefinitions } from './mcp-server.definitions.js';
import { McpServerStore } from './mcp-server.store.js';
import type { HeadersPreviewResponse, IdentityPreviewResponse } from './mcp-server.response.js';
import type { UsableMcpServer } from './usable-mcp-server.js';

type Headers = Readonly<Record<string, string>>;

/** Shows what a server would get to read if the request at hand were one for it. */
@Injectable()
export class McpServerPreview {
  constructor(
    private readonly store: McpServerStore,
    private readonly definitions: McpServerDefinitions,
    private readonly authentication: McpAuthentication,
    private readonly outbound: McpOutbound,
    private readonly clock: Clock,
  ) {}

  async preview(principal: Principal, ref: string, request: Request): Promise<HeadersPreviewResponse> {
    const row = await this.store.get(principal, ref);
    const server = await this.definitions.openForUse(row);
    const caller = await this.callerOf(principal, server, request);
    const client = toRawHeaders(request.rawHeaders);
    const { traceId } = principal;
    const headers = await this.outbound.headersFor({ server, caller, client, traceId });
    const { 'content-length': _ofThisRequest, ...shown } = Object.fromEntries(headers);
    return {
      object: 'mcp-headers-preview',
      headers: masked(shown, server),
      identity: identityIn(shown, server.identity.userIdentityForwarding),
    };
  }

  /** With a key, as if it came to the server: a user's token beside it is judged and told on. */
  private async callerOf(principal: Principal, server: UsableMcpServer, request: Request): Promise<McpCaller> {
    if (principal.kind !== 'api_key') return callerOfPrincipal(principal, server.workspaceId);
    const identity = { ...server.identity, resource: this.definitions.addressOf(server.slug) };
    const evidence = { headers: toRawHeaders(request.rawHeaders), keyOwner: principal };
    return this.authentication.callerOf(evidence, identity, this.clock.now());
  }
}

function masked(headers: Headers, { headers: fixed, mapped, identity }: UsableMcpServer): Headers {
  // A caller that may see the server may see nothing of a manager's secret.
  const hidden = new Set(mapped.headerNames.map((name) => name.toLowerCase()));
  const secret = new Set(['authorization', ...Object.keys(fixed).map((name) => name.toLowerCase())]);
  const { userIdentityForwarding: forwarding } = identity;
  if (forwarding !== undefined && forwarding.method !== 'claims_header') {
    secret.add(identityHeaderName(forwarding).toLowerCase());
  }
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      hidden.has(name) ? mask('') : secret.has(name) ? mask(value) : value,
    ]),
  );
}

function identityIn(headers: Headers, forwarding: UserIdentityForwarding | undefined): IdentityPreviewResponse | null {
  if (forwarding === undefined) return null;
  const header_name = identityHeaderName(forwarding);
  const value = headers[header_name.toLowerCase()];
  return value === undefined ? null : { header_name, claims: claimsIn(value, forwarding.method) };
}

function claimsIn(value: string, method: UserIdentityForwarding['method']): Record<string, unknown> | null {
  if (method === 'bearer') return null;
  const claims: unknown = method === 'jwt_header' ? decodeJwt(value) : JSON.parse(value);
  return isObject(claims) ? { ...claims } : null;
}
