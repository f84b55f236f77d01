import type { Request } from 'express';
import type { Principal } from '../../access/principal.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import type { McpCaller } from '../../identity/claims/mcp-caller.js';
import type { McpServerIdentity } from '../../identity/config/identity-config.js';
import type { RawHeader } from '../../identity/headers/raw-headers.js';
import type { SessionOwner } from '../../identity/sessions/session-binding.js';
import type { TraceContext } from '../../telemetry/trace-headers.js';
import type { ReportedOutcome } from '../inspection/reported-outcome.js';
import type { ToolAccess, ToolDenial } from '../inspection/tool-denial.js';
import type { ExpectedAnswer, SessionStream } from '../legacy/session-answers.js';
import type { ServerAddress } from '../servers/mcp-server.directory.js';
import type { UsableMcpServer } from '../servers/usable-mcp-server.js';
import type { McpEndpoint } from './mcp-address.js';
import type { McpMessage } from './mcp-message.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by McpEdgeGuard on every MCP route. */
    mcp?: IncomingMcpRequest;
    /** Set by McpAuthenticationGuard on every MCP route that takes calls. */
    mcpCall?: McpCallContext;
  }
}

/** The owner of the key of a request, and the server that its address means to that owner. */
export interface AddressedServer {
  /** Undefined for a request without a gateway key. */
  readonly keyOwner: Principal | undefined;
  /** Undefined for a request without a key whose address means no server, or servers of two organisations. */
  readonly server: UsableMcpServer | undefined;
}

/** An MCP request before its caller is known. */
export class IncomingMcpRequest {
  /** Looked up once: a key counts against its rate limit with each look-up. */
  addressed: MaybePromise<AddressedServer> | undefined = undefined;

  constructor(
    readonly address: ServerAddress,
    readonly endpoint: McpEndpoint,
    /** That the gateway listens on. */
    readonly port: number,
    /** As the client sent them, without the protected identity headers. */
    readonly headers: readonly RawHeader[],
  ) {}
}

/** What authentication finds out. */
export interface AuthenticatedMcpCaller {
  readonly server: UsableMcpServer;
  readonly identity: McpServerIdentity;
  readonly caller: McpCaller;
  /**
   * Authenticates the same request again while its answer streams. Uses what is in memory, and no rate limit counts it.
   * @throws GatewayError when the caller would be refused now, or would be another user or at another server
   */
  readonly recheck: (now: Date) => Promise<void>;
}

/**
 * One call of an MCP server. Made once the caller is known; each later stage adds what it finds out, so that a refusal
 * is logged with what was known by then. All fields are there from the start: V8 is slower with objects that grow.
 */
export class McpCallContext implements AuthenticatedMcpCaller {
  readonly startedAt = performance.now();
  readonly headers: readonly RawHeader[];
  readonly endpoint: McpEndpoint;
  readonly server: UsableMcpServer;
  readonly identity: McpServerIdentity;
  readonly caller: McpCaller;
  readonly recheck: AuthenticatedMcpCaller['recheck'];
  /** Whose calls and streams are limited together: one caller at one server. */
  readonly callerKey: string;
  /** To whom the ids of the server's sessions are bound. */
  readonly owner: SessionOwner;

  // Added by McpAccessGuard.
  /** Gives back the caller's place among its concurrent calls. */
  leave: () => void = noPlace;
  /** The server's own session id. */
  sessionId: string | undefined = undefined;
  url: URL;
  /** Undefined until it is read, and where there is none. */
  body: Buffer | undefined = undefined;
  /** Undefined until the body is understood. */
  message: McpMessage | undefined = undefined;
  /** Undefined when the call may use all tools. */
  toolAccess: ToolAccess | undefined = undefined;
  /** Set when a disabled tool is called. */
  denial: ToolDenial | undefined = undefined;

  // Added by McpAnswerHooks, or by McpCallInterceptor on the older transport: filled while the answer passes.
  answer: ReportedOutcome | undefined = undefined;

  // Added by McpCallInterceptor, on the older transport.
  /** Of a stream. */
  sessionStream: SessionStream | undefined = undefined;
  /** Of a message. */
  expectedAnswer: ExpectedAnswer | undefined = undefined;

  // Added by McpAccessGuard: that of the message, when the headers name none. By McpCallInterceptor: of the span of the call, when
  // the request is traced.
  traceContext: TraceContext | undefined = undefined;

  // Added by IdentityForwardingInterceptor.
  outboundHeaders: ReadonlyMap<string, string> | undefined = undefined;

  constructor(
    readonly request: Request,
    { endpoint, headers }: IncomingMcpRequest,
    { server, identity, caller, recheck }: AuthenticatedMcpCaller,
  ) {
    this.headers = headers;
    this.endpoint = endpoint;
    this.server = server;
    this.identity = identity;
    this.caller = caller;
    this.recheck = recheck;
    this.callerKey = `${server.id}\n${caller.sessionUser}`;
    this.owner = { serverId: server.id, serverOrigin: server.url.origin, user: caller.sessionUser };
    this.url = server.url;
  }
}

function noPlace(): void {}

export function incomingMcpRequest({ mcp }: Pick<Request, 'mcp'>): IncomingMcpRequest {
  if (mcp === undefined) throw new Error('McpEdgeGuard did not run');
  return mcp;
}

export function mcpCallOf({ mcpCall }: Pick<Request, 'mcpCall'>): McpCallContext {
  if (mcpCall === undefined) throw new Error('McpAuthenticationGuard did not run');
  return mcpCall;
}
