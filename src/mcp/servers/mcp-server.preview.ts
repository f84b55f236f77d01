import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { decodeJwt } from 'jose';
import type { Principal } from '../../access/principal.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { isObject } from '../../common/json/read.js';
import { mask } from '../../common/mask.js';
import { identityHeaderName, type UserIdentityForwarding } from '../../identity/config/identity-config.js';
import { toRawHeaders } from '../../identity/headers/raw-headers.js';
import { McpOutbound } from '../endpoints/mcp-outbound.js';
import type { HeadersPreviewResponse, IdentityPreviewResponse } from './mcp-server.response.js';
import { McpServerTrial } from './mcp-server.trial.js';
import type { UsableMcpServer } from './usable-mcp-server.js';

type Headers = Readonly<Record<string, string>>;

/** Shows the headers that a server would receive with this request. */
@Injectable()
export class McpServerPreview {
  constructor(
    private readonly trial: McpServerTrial,
    private readonly outbound: McpOutbound,
  ) {}

  async preview(principal: Principal, ref: string, request: Request): Promise<HeadersPreviewResponse> {
    return withHint(() => this.show(principal, ref, request));
  }

  private async show(principal: Principal, ref: string, request: Request): Promise<HeadersPreviewResponse> {
    const { server, caller } = await this.trial.open(principal, await this.trial.get(principal, ref), request);
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
}

/** Adds the hint to an error's message, since a caller of the preview may see what is missing. */
async function withHint<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GatewayError) || error.hint === undefined) throw error;
    const { code, reason, hint, cause, headers } = error;
    throw new GatewayError(code, { message: `${error.message} ${hint}`, reason, hint, cause, headers });
  }
}

function masked(headers: Headers, { headers: fixed, mapped, identity }: UsableMcpServer): Headers {
  // Secrets of secret managers are hidden completely, even from callers that may see the server.
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
