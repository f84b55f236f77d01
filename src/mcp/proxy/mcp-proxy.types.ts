import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayError } from '../../common/errors/gateway.error.js';
import type { ConnectionHolder } from '../../upstream/connection-holder.js';
import type { BodyWatcher } from '../../upstream/stream-exchange.js';
import type { BodyFilter, UpstreamHead } from '../../upstream/upstream.types.js';
import type { RpcId } from '../mcp-error.js';

/** Where the requests of one MCP server go, as plain data. */
export interface McpTarget {
  readonly url: URL;
  readonly transport: 'streamable_http' | 'sse';
  readonly timeouts: {
    /** Longest wait for the head of the answer to a POST or DELETE. A GET may stay silent without a limit. */
    readonly firstByteMs: number;
  };
}

/** One MCP request on its way to its server. */
export interface McpForward {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: McpTarget;
  /**
   * Name, value, name, value …, complete: the proxy adds no header of the client. Without `host`, `content-length` and
   * other headers of the connection, which the proxy writes.
   */
  readonly headers: readonly string[];
  /** Called when the server refuses the gateway's credential. Returns headers for one more try; undefined when there are none. */
  readonly renewHeaders?: (() => Promise<readonly string[] | undefined>) | undefined;
  /** Calls and open GET streams with the same key are counted together: one caller at one server. */
  readonly callerKey: string;
  /** The server: whose share of the connections to its address is used. */
  readonly holder?: ConnectionHolder | undefined;
  /** The whole body of a POST, sent as it is. Other methods have none. */
  readonly body?: Buffer | undefined;
  /** Whether the body has a JSON-RPC request, so that an empty answer is an error. Default: no. */
  readonly expectsAnswer?: boolean;
  /** The id for errors of the gateway; null when no single request was read. */
  readonly rpcId?: () => RpcId;
  readonly hooks?: McpHooks;
}

export interface McpHooks {
  /** Called with the head of every answer, before any other hook. An error that it throws replaces the answer. */
  readonly onHead?: (head: UpstreamHead) => void;
  /** Converts the upstream's session id to the one that the client receives. */
  readonly wrapSessionId?: (upstreamId: string) => string;
  /** Returns the gateway's `WWW-Authenticate`, which replaces the upstream's. Without it, 401 and 403 become 502: the caller's own credential was fine. */
  readonly challenge?: ((head: UpstreamHead) => string) | undefined;
  /** Called once, with the head of the answer. The body goes through the filter, if there is one. */
  readonly bodyFilter?: (head: UpstreamHead) => BodyFilter | undefined;
  /** Called once, with the head of the answer. The watcher receives the bytes of the server, after they were forwarded. */
  readonly bodyWatcher?: (head: UpstreamHead) => BodyWatcher | undefined;
  /** Called when a stream opens: a GET, or an answer that is an event stream. The returned function is called once, when it is over. */
  readonly onStream?: (end: EndStream) => () => void;
}

/** Ends a stream at once. The client sees a complete answer, and receives the reason at its next request. */
export type EndStream = (reason: GatewayError) => void;

/** The facts of one request, for its row in the log of calls and for the metrics. */
export interface McpOutcome {
  /** The status that the client received; 499 when it disconnected before the whole answer. */
  readonly status: number;
  /** Whether the request was sent to the upstream, whatever its outcome. */
  readonly wasSent: boolean;
  readonly upstreamStatus: number | undefined;
  /** The error that the gateway returned, or would have returned; undefined when the client received the whole answer or disconnected. `internal_error` is a defect: log it with its cause. */
  readonly error: GatewayError | undefined;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Milliseconds from the request to the head of the upstream's answer. */
  readonly firstByteMs: number | undefined;
}
