import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway.error.js';
import type { BodyLimits } from '../../common/http/read-body.js';
import { AppConfig } from '../../config/environment.js';
import { headerValue } from '../../identity/headers/raw-headers.js';
import { SessionBinding, type SessionOwner } from '../../identity/sessions/session-binding.js';
import type { TraceContext } from '../../telemetry/trace-headers.js';
import { noteMethod } from '../calls/request-facts.js';
import { denyToolCalls, type ToolDenial } from '../inspection/tool-denial.js';
import { messageTarget } from '../legacy/message-endpoint.js';
import { sendJson } from '../mcp-error.js';
import { isStateless } from '../protocol-revision.js';
import { McpProxy } from '../proxy/mcp-proxy.js';
import type { McpForward, McpOutcome } from '../proxy/mcp-proxy.types.js';
import { McpAnswerHooks } from './mcp-answer-hooks.js';
import { readMessage, rpcIdOf } from './mcp-message.js';
import { McpOutbound, type OutboundRequest } from './mcp-outbound.js';
import type { Passage } from './mcp-passage.types.js';
import { inMcpSpan } from './mcp-span.js';

const DEFAULT_FIRST_BYTE_MS = 120_000;

type Headers = ReadonlyMap<string, string>;

/** How a request goes on to its server. */
interface Sending {
  readonly url: URL;
  readonly sessionId: string | undefined;
  readonly owner: SessionOwner;
  readonly callerKey: string;
}

/** Takes a request whose caller is known to its server: session, message, headers (identity last), proxy. */
@Injectable()
export class McpPassage {
  private readonly bodyLimits: BodyLimits;

  constructor(
    private readonly outbound: McpOutbound,
    private readonly sessions: SessionBinding,
    private readonly hooks: McpAnswerHooks,
    private readonly proxy: McpProxy,
    config: AppConfig,
  ) {
    this.bodyLimits = { maxBytes: config.MAX_JSON_BODY_BYTES, totalMs: config.JSON_BODY_TIMEOUT_MS };
  }

  /** @throws GatewayError for what is refused before the server is called */
  async pass(passage: Passage): Promise<McpOutcome> {
    const { request, server, caller } = passage;
    const callerKey = `${server.id}\n${caller.sessionUser}`;
    if (request.method === 'GET') return this.passOn(passage, callerKey);
    const leave = this.proxy.enterCall(callerKey);
    try {
      return await this.passOn(passage, callerKey);
    } finally {
      leave();
    }
  }

  private async passOn(passage: Passage, callerKey: string): Promise<McpOutcome> {
    const { request, server, caller } = passage;
    const owner: SessionOwner = { serverId: server.id, serverOrigin: server.url.origin, user: caller.sessionUser };
    const sessionId = this.sessionOf(passage, owner);
    const url = this.targetOf(passage, owner);
    const reading = request.method === 'POST' ? readMessage(request, this.bodyLimits, passage) : undefined;
    if (reading instanceof Promise) await reading;
    passage.denial = denialOf(passage);
    noteMethod(passage);
    if (passage.denial !== undefined) return answerDenial(passage, passage.denial);
    const sending = { url, sessionId, owner, callerKey };
    return inMcpSpan(passage, (traceContext) => this.send(passage, sending, traceContext));
  }

  private async send(
    passage: Passage,
    { url, sessionId, owner, callerKey }: Sending,
    traceContext: TraceContext | undefined,
  ): Promise<McpOutcome> {
    const { request, response, server, headers: client, caller } = passage;
    const { traceId } = request.context?.trace ?? {};
    const outgoing = { server, caller, client, sessionId, traceId, traceContext };
    const outbound = this.outbound.headersFor(outgoing);
    const headers = outbound instanceof Promise ? await outbound : outbound;
    return this.proxy.forward({
      request,
      response,
      target: {
        url,
        transport: server.transport,
        timeouts: { firstByteMs: server.timeouts.first_byte_ms ?? DEFAULT_FIRST_BYTE_MS },
      },
      headers: flat(headers),
      renewHeaders: this.renewalOf(outgoing, headers),
      callerKey,
      body: passage.body,
      rpcId: () => rpcIdOf(passage.message),
      hooks: this.hooks.hooksFor(passage, owner),
    });
  }

  /** Undefined where nothing comes from secret references: what is stored was refused as it is. */
  private renewalOf(outgoing: OutboundRequest, refused: Headers): McpForward['renewHeaders'] {
    const names = outgoing.server.mapped.headerNames.map((name) => name.toLowerCase());
    if (names.length === 0) return undefined;
    return async () => {
      const renewed = await this.renewed(outgoing);
      const isOther = renewed !== undefined && names.some((name) => renewed.get(name) !== refused.get(name));
      return isOther ? flat(renewed) : undefined;
    };
  }

  /** Undefined when the secrets cannot be read again: the caller is then told of the refusal that came first. */
  private async renewed(outgoing: OutboundRequest): Promise<Headers | undefined> {
    try {
      return await this.outbound.headersFor({ ...outgoing, secrets: 'fresh' });
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'secret_unavailable') return undefined;
      throw error;
    }
  }

  /** The server's own session id. One that was given to somebody else answers like one that has ended. */
  private sessionOf({ headers, server }: Passage, owner: SessionOwner): string | undefined {
    const bound = headerValue(headers, 'mcp-session-id');
    const revision = headerValue(headers, 'mcp-protocol-version') ?? '';
    if (bound === undefined || bound === '') return undefined;
    // Without sessions, what is sent for one means nothing.
    if (isStateless(revision) || server.transport === 'sse') return undefined;
    return this.unbind(bound, owner);
  }

  private unbind(bound: string, owner: SessionOwner): string {
    const sessionId = this.sessions.unbind(bound, owner);
    if (sessionId === undefined) throw new GatewayError('not_found', { message: 'The session does not exist.' });
    return sessionId;
  }

  private targetOf({ request, server, endpoint }: Passage, owner: SessionOwner): URL {
    if (endpoint !== 'mcp' && server.transport !== 'sse') {
      throw new GatewayError('not_found', {
        message: 'The server does not speak this transport; its address ends in /mcp.',
      });
    }
    if (endpoint !== 'messages') return server.url;
    return messageTarget(queryOf(request.url), server.url, { open: (sealed) => this.unbind(sealed, owner) });
  }
}

/** The refusal of a call of a disabled tool, if it is one. */
function denialOf({ server, message }: Passage): ToolDenial | undefined {
  return message && denyToolCalls(message.inspected, (tool) => !server.disabledTools.has(tool));
}

function answerDenial({ response, endpoint, body }: Passage, { status, text }: ToolDenial): McpOutcome {
  // Its answer would have to come on the other stream.
  if (endpoint === 'messages') throw new GatewayError('permission_denied', { param: 'params.name' });
  sendJson(response, status, text);
  return {
    status,
    wasSent: false,
    upstreamStatus: undefined,
    error: new GatewayError('permission_denied', { reason: 'disabled tool' }),
    requestBytes: body?.length ?? 0,
    responseBytes: Buffer.byteLength(text),
    firstByteMs: undefined,
  };
}

/** As the proxy takes them; it announces the length itself. */
function flat(headers: Headers): readonly string[] {
  const fields: string[] = [];
  for (const [name, value] of headers) if (name !== 'content-length') fields.push(name, value);
  return fields;
}

/** Read by itself: a target in absolute form may have an authority that is no URL's. */
function queryOf(target: string): URLSearchParams {
  const start = target.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : target.slice(start));
}
