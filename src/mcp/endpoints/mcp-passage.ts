import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { AppConfig } from '../../config/environment.js';
import { McpAuthentication } from '../../identity/authenticators/mcp-authentication.js';
import { headerValue } from '../../identity/headers/raw-headers.js';
import { SessionBinding, type SessionOwner } from '../../identity/sessions/session-binding.js';
import type { UpstreamHead } from '../../upstream/upstream.types.js';
import { denyToolCalls, type ToolDenial } from '../inspection/tool-denial.js';
import { toolListFilter } from '../inspection/tool-list-filter.js';
import { EndpointRewriter } from '../legacy/endpoint-rewriter.js';
import { clientEndpoint, messageTarget } from '../legacy/message-endpoint.js';
import { sendJson } from '../mcp-error.js';
import { filterChain } from '../proxy/filter-chain.js';
import { McpProxy } from '../proxy/mcp-proxy.js';
import type { BodyFilter, McpHooks, McpOutcome } from '../proxy/mcp-proxy.types.js';
import type { McpEndpoint } from './mcp-address.js';
import type { Entered } from './mcp-entry.js';
import { type McpMessage, readMessage } from './mcp-message.js';
import { McpOutbound } from './mcp-outbound.js';

const DEFAULT_FIRST_BYTE_MS = 120_000;
/** The first revision without sessions: what is sent for one means nothing (MCP 2026-07-28). */
const SESSIONLESS_REVISION = '2026-07-28';

/** A request on its way through, with what is learned about it. */
export interface Passage extends Entered {
  readonly request: Request;
  readonly response: Response;
  readonly endpoint: McpEndpoint;
  message?: McpMessage;
}

/** What happened to a request that reached its server, or was answered in its place. */
export type PassageOutcome = Pick<
  McpOutcome,
  'status' | 'upstreamStatus' | 'error' | 'requestBytes' | 'responseBytes' | 'firstByteMs'
>;

/** Takes a request whose caller is known to its server: session, message, headers (identity last), proxy. */
@Injectable()
export class McpPassage {
  constructor(
    private readonly outbound: McpOutbound,
    private readonly sessions: SessionBinding,
    private readonly authentication: McpAuthentication,
    private readonly proxy: McpProxy,
    private readonly config: AppConfig,
  ) {}

  /** @throws GatewayError for what is refused before the server is called */
  async pass(passage: Passage): Promise<PassageOutcome> {
    const { request, response, server, headers: client, caller } = passage;
    const owner: SessionOwner = { serverId: server.id, user: caller.sessionUser };
    const sessionId = this.sessionOf(passage, owner);
    const url = this.targetOf(passage, owner);
    const denial = await this.read(passage);
    if (denial !== undefined) return answerDenial(passage, denial);
    const { traceId } = request.context?.trace ?? {};
    const headers = await this.outbound.headersFor({ server, caller, client, sessionId, traceId });
    return this.proxy.forward({
      request,
      response,
      target: {
        url,
        transport: server.transport,
        timeouts: { firstByteMs: server.timeouts.first_byte_ms ?? DEFAULT_FIRST_BYTE_MS },
        maxBodyBytes: this.config.MAX_JSON_BODY_BYTES,
      },
      headers: flat(headers),
      streamKey: `${server.id}\n${caller.sessionUser}`,
      body: passage.message?.body,
      rpcId: passage.message?.inspected?.messages[0]?.id ?? null,
      hooks: this.hooksFor(passage, owner),
    });
  }

  /** The server's own session id. One that was given to somebody else answers like one that has ended. */
  private sessionOf({ headers, server }: Passage, owner: SessionOwner): string | undefined {
    const bound = headerValue(headers, 'mcp-session-id');
    const revision = headerValue(headers, 'mcp-protocol-version') ?? '';
    if (bound === undefined || revision >= SESSIONLESS_REVISION || server.transport === 'sse') return undefined;
    return this.unbind(bound, owner);
  }

  private unbind(bound: string, owner: SessionOwner): string {
    const sessionId = this.sessions.unbind(bound, owner);
    if (sessionId === undefined) throw new GatewayError('not_found', { message: 'The session does not exist.' });
    return sessionId;
  }

  private bind(sessionId: string, owner: SessionOwner): string {
    const bound = this.sessions.bind(sessionId, owner);
    if (bound === undefined) throw new GatewayError('provider_invalid_response', { reason: 'session id' });
    return bound;
  }

  private targetOf({ request, server, endpoint }: Passage, owner: SessionOwner): URL {
    if (endpoint !== 'mcp' && server.transport !== 'sse') {
      throw new GatewayError('not_found', {
        message: 'The server does not speak this transport; its address ends in /mcp.',
      });
    }
    if (endpoint !== 'messages') return server.url;
    const query = new URL(request.url, server.url).searchParams;
    return messageTarget(query, server.url, { open: (sealed) => this.unbind(sealed, owner) });
  }

  /** The refusal of a call of a disabled tool, if it is one. */
  private async read(passage: Passage): Promise<ToolDenial | undefined> {
    const { request, server, endpoint } = passage;
    if (request.method !== 'POST') return undefined;
    const isStrict = server.disabledTools.size > 0;
    passage.message = await readMessage(request, this.config.MAX_JSON_BODY_BYTES, isStrict);
    const { inspected } = passage.message;
    if (!isStrict || inspected === undefined) return undefined;
    const denial = denyToolCalls(inspected, (tool) => !server.disabledTools.has(tool));
    // Its answer would have to come on the other stream.
    if (denial !== undefined && endpoint === 'messages')
      throw new GatewayError('permission_denied', { param: 'params.name' });
    return denial;
  }

  private hooksFor(passage: Passage, owner: SessionOwner): McpHooks {
    const { identity, caller } = passage;
    // Only then was it the user's own token that the server has refused.
    const isUsersToken = identity.userIdentityForwarding?.method === 'bearer' && caller.externalToken !== undefined;
    return {
      wrapSessionId: (sessionId) => this.bind(sessionId, owner),
      challenge: isUsersToken ? this.authentication.challengeFor(identity) : undefined,
      bodyFilter: (head) => this.filterFor(passage, owner, head),
    };
  }

  private filterFor(passage: Passage, owner: SessionOwner, head: UpstreamHead): BodyFilter | undefined {
    const { request, server } = passage;
    const isStream = request.method === 'GET';
    const isLegacyStream = isStream && server.transport === 'sse' && head.status < 300;
    const messagesPath = request.path.replace(/\/[^/]*$/, '/messages');
    const binding = { seal: (text: string) => this.bind(text, owner) };
    const mayHoldTools = isStream || listsTools(passage.message);
    const { disabledTools } = server;
    return filterChain(
      isLegacyStream
        ? new EndpointRewriter((endpoint) => clientEndpoint(endpoint, server.url, messagesPath, binding))
        : undefined,
      disabledTools.size > 0 && mayHoldTools
        ? toolListFilter(head, (tool) => !disabledTools.has(tool), this.config.MAX_JSON_BODY_BYTES)
        : undefined,
    );
  }
}

/** What was not understood may be one as well. */
function listsTools(message: McpMessage | undefined): boolean {
  const { inspected } = message ?? {};
  return inspected === undefined || inspected.messages.some(({ method }) => method === 'tools/list');
}

function answerDenial({ response, message }: Passage, { status, text }: ToolDenial): PassageOutcome {
  sendJson(response, status, text);
  return {
    status,
    upstreamStatus: undefined,
    error: new GatewayError('permission_denied', { reason: 'disabled tool' }),
    requestBytes: message?.body.length ?? 0,
    responseBytes: Buffer.byteLength(text),
    firstByteMs: undefined,
  };
}

/** As the proxy takes them; it announces the length itself. */
function flat(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) => (name === 'content-length' ? [] : [name, value]));
}
