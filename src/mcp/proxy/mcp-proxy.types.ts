import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayError } from '../../common/errors/gateway.error.js';
import type { BodyWatcher } from '../../upstream/stream-exchange.js';
import type { BodyFilter, UpstreamHead } from '../../upstream/upstream.types.js';
import type { RpcId } from '../mcp-error.js';

/** Where the requests of one MCP server go, as plain data. */
export interface McpTarget {
  readonly url: URL;
  readonly transport: 'streamable_http' | 'sse';
  readonly timeouts: {
    /** Longest wait for the head of the answer to a POST or DELETE. A GET may stay silent for ever. */
    readonly firstByteMs: number;
  };
}

/** One MCP request on its way to its server. */
export interface McpForward {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: McpTarget;
  /**
   * Name, value, name, value …, complete: nothing of the client's own is added. Without `host`, `content-length` and
   * what else belongs to a connection, which the proxy writes.
   */
  readonly headers: readonly string[];
  /** Asked when the server refuses the gateway's credential: other headers to try once more with; undefined: there are none. */
  readonly renewHeaders?: (() => Promise<readonly string[] | undefined>) | undefined;
  /** Whose calls and open GET streams are counted together: one caller at one server. */
  readonly callerKey: string;
  /** Of a POST, whole: these bytes are sent. Others have none. */
  readonly body?: Buffer | undefined;
  /** For the answers that the gateway gives itself; null where no single request was read. */
  readonly rpcId?: () => RpcId;
  readonly hooks?: McpHooks;
}

export interface McpHooks {
  /** Told of the head of every answer, before anything comes of it. */
  readonly onHead?: (head: UpstreamHead) => void;
  /** The upstream's session id in the form that the client gets it. */
  readonly wrapSessionId?: (upstreamId: string) => string;
  /** Our own `WWW-Authenticate` in place of the upstream's. Without it, 401 and 403 become 502: the caller's own credential was fine. */
  readonly challenge?: ((head: UpstreamHead) => string) | undefined;
  /** Asked once, with the head of the answer. Its bytes go through the filter, if there is one. */
  readonly bodyFilter?: (head: UpstreamHead) => BodyFilter | undefined;
  /** Asked once, with the head of the answer. Gets its bytes as they came, behind those that went on. */
  readonly bodyWatcher?: (head: UpstreamHead) => BodyWatcher | undefined;
  /** Told when a stream opens: a GET, or an answer that is an event stream. Returns what is called once when it is over. */
  readonly onStream?: (end: EndStream) => () => void;
}

/** Ends a stream where it stands: it is whole for the client, who learns the reason at its next request. */
export type EndStream = (reason: GatewayError) => void;

/** What was seen of one request, for the audit row and the metrics. */
export interface McpOutcome {
  /** As answered to the client; 499 when it left before the whole answer. */
  readonly status: number;
  /** Whether the request went on its way to the upstream, whatever came of it. */
  readonly wasSent: boolean;
  readonly upstreamStatus: number | undefined;
  /** What the gateway answered with, or would have; undefined when the client got the whole answer, or left. `internal_error` is a defect, to be logged with its cause. */
  readonly error: GatewayError | undefined;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Milliseconds from the request to the head of the upstream's answer. */
  readonly firstByteMs: number | undefined;
}
