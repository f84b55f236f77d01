import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { AppConfig } from '../../config/environment.js';
import { McpAuthentication } from '../../identity/authenticators/mcp-authentication.js';
import { assertIdentityFits } from '../../identity/forwarding/identity-forwarding.js';
import { SessionBinding, type SessionOwner } from '../../identity/sessions/session-binding.js';
import type { UpstreamHead } from '../../upstream/upstream.types.js';
import { noteHead } from '../calls/mcp-call-log.js';
import { outcomeReader } from '../inspection/answer-outcome.js';
import { ReportedOutcome } from '../inspection/reported-outcome.js';
import { NoBody, toolListFilter } from '../inspection/tool-list-filter.js';
import { ToolListWatch } from '../inspection/tool-list-watch.js';
import { EndpointRewriter } from '../legacy/endpoint-rewriter.js';
import { clientEndpoint, messagePath } from '../legacy/message-endpoint.js';
import { bothWatchers, filterChain } from '../proxy/filter-chain.js';
import type { BodyFilter } from '../../upstream/upstream.types.js';
import type { BodyWatcher } from '../../upstream/stream-exchange.js';
import type { McpHooks } from '../proxy/mcp-proxy.types.js';
import type { McpMessage } from './mcp-message.js';
import type { McpCallContext } from './mcp-request.js';
import { OpenStreams } from './open-streams.js';

const SESSION_ID_REFUSED = 'The MCP server answered with a session id that is too long, or not visible ASCII.';

/** What the gateway does with an answer on its way to the client: session id, challenge, filtered tools, end of a stream. */
@Injectable()
export class McpAnswerHooks {
  constructor(
    private readonly sessions: SessionBinding,
    private readonly authentication: McpAuthentication,
    private readonly lists: ToolListWatch,
    private readonly streams: OpenStreams,
    private readonly config: AppConfig,
  ) {}

  /** Measures the time to the head of the answer from now on. */
  hooksFor(call: McpCallContext): McpHooks {
    const { identity, caller, owner, server, message } = call;
    // Otherwise it is not the user's own token that the server has refused.
    const isUsersToken = identity.userIdentityForwarding?.method === 'bearer' && caller.externalToken !== undefined;
    const startedAt = performance.now();
    return {
      onHead: ({ status }) => {
        noteHead(call, status, performance.now() - startedAt);
        assertIdentityFits(status, call.outboundHeaders, identity.userIdentityForwarding);
      },
      wrapSessionId: (sessionId) => this.bind(sessionId, owner),
      challenge: isUsersToken ? (head) => this.challengeFor(call, head) : undefined,
      bodyFilter: (head) => this.filterFor(call, head),
      onStream: (end) => this.streams.watch(call, end),
      bodyWatcher: (head) =>
        bothWatchers(outcomeWatcher(call, head), this.lists.watch(server, message?.inspected, head)),
    };
  }

  private challengeFor({ identity }: McpCallContext, { headers }: UpstreamHead): string {
    return this.authentication.relayedChallenge(identity, [headers['www-authenticate'] ?? []].flat());
  }

  private bind(sessionId: string, owner: SessionOwner, maxCharacters?: number): string {
    const bound = this.sessions.bind(sessionId, owner, maxCharacters);
    if (bound === undefined)
      throw new GatewayError('provider_invalid_response', { message: SESSION_ID_REFUSED, reason: 'session id' });
    return bound;
  }

  private filterFor(call: McpCallContext, head: UpstreamHead): BodyFilter | undefined {
    const { request, owner, server } = call;
    const isStream = request.method === 'GET';
    const isLegacy = server.transport === 'sse' && head.status < 300;
    // Without a limit: the address in it is bounded already.
    const seal = { seal: (text: string) => this.bind(text, owner, Infinity) };
    const mayHoldTools = isStream || listsTools(call.message);
    const mayUse = mayHoldTools ? call.toolAccess : undefined;
    if (isLegacy && !isStream) return mayUse && new NoBody();
    return filterChain(
      isLegacy
        ? new EndpointRewriter((endpoint) => {
            const path = messagePath(endpoint, server.url);
            call.sessionStream?.begin(path);
            return clientEndpoint(path, messagesPathOf(request), seal);
          })
        : undefined,
      mayUse && toolListFilter(head, mayUse, this.config.MAX_JSON_BODY_BYTES),
    );
  }
}

/** On the older transport, the answers are on the stream of the session, and those to messages say nothing. */
function outcomeWatcher(call: McpCallContext, head: UpstreamHead): BodyWatcher | undefined {
  if (call.sessionStream !== undefined) return call.sessionStream;
  if (call.expectedAnswer !== undefined) return undefined;
  const outcome = ReportedOutcome.of(call.message?.inspected);
  const reader = outcome && outcomeReader(outcome, head);
  call.answer = reader && outcome;
  return reader;
}

/** The address for messages is next to the one of the stream. */
function messagesPathOf({ path }: Request): string {
  return path.replace(/\/[^/]*\/?$/, '/messages');
}

/** Without a message, the answer may hold anything. */
function listsTools(message: McpMessage | undefined): boolean {
  return message?.inspected.messages.some(({ method }) => method === 'tools/list') ?? true;
}
