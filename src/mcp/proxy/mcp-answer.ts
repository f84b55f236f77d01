import type { GatewayError } from '../../common/errors/gateway.error.js';
import { endInTime } from '../../common/http/closing-answers.js';
import type { AnswerSink } from '../../upstream/stream-exchange.js';
import { UpstreamFailure, type UpstreamHead } from '../../upstream/upstream.types.js';
import type { McpForward, McpHooks } from './mcp-proxy.types.js';
import { refusedBody } from './readable-answer.js';
import { clientHead, isEventStream, isPlain } from './response-head.js';

const NO_HOOKS: McpHooks = {};
/** TCP probes a silent client this often. Otherwise a client that disappears would keep its stream open. */
const CLIENT_PROBE_MS = 30_000;

/** One answer of an MCP server as the client gets it: its head, its filter, and how it may end. */
export class McpAnswer {
  readonly #hooks: McpHooks;
  /** The headers that were set on the response: name, value, name, value …. */
  #head: readonly string[] = [];
  #onStreamOver: (() => void) | undefined;

  constructor(
    private readonly call: McpForward,
    /** Longest pause of an answer that is not a stream. */
    private readonly idleMs: number,
    private readonly endStream: (reason: GatewayError) => void,
  ) {
    this.#hooks = call.hooks ?? NO_HOOKS;
  }

  /** Call for a GET before it is sent; an answer that is an event stream opens a stream by itself. */
  openStream(): void {
    this.call.request.socket.setKeepAlive(true, CLIENT_PROBE_MS);
    this.#onStreamOver = this.#hooks.onStream?.(this.endStream);
  }

  readonly begin = (head: UpstreamHead): AnswerSink => {
    this.#hooks.onHead?.(head);
    const watcher = this.#hooks.bodyWatcher?.(head);
    const { request, response, target } = this.call;
    const filter = refusedBody(head, request.method, target.transport) ?? this.#hooks.bodyFilter?.(head);
    if (filter && !isPlain(head)) {
      throw new UpstreamFailure('incomplete', 'the MCP server compressed an answer that has to be read');
    }
    const { status, headers, flush } = clientHead(head, this.#hooks, filter !== undefined);
    this.#head = headers;
    response.statusCode = status;
    for (let at = 0; at + 1 < headers.length; at += 2) response.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
    if (flush) response.flushHeaders();
    const isStream = isEventStream(head);
    if (isStream && request.method !== 'GET') this.openStream();
    const boundMs = isStream ? Infinity : this.idleMs;
    const isLeftOpen = (): boolean => !response.headersSent;
    return {
      stream: response,
      filter,
      watcher,
      idleMs: boundMs,
      pauseMs: boundMs,
      isLeftOpen,
      endEarly: this.#endEarly,
    };
  };

  /** Call once, when the exchange is over. */
  readonly over = (): void => this.#onStreamOver?.();

  /** Removes the headers of the answer before an error replaces it: its encoding, session or length would be wrong for the error. */
  withdraw(): void {
    const { response } = this.call;
    if (response.headersSent) return;
    for (let at = 0; at < this.#head.length; at += 2) response.removeHeader(this.#head[at] ?? '');
  }

  readonly #endEarly = (): boolean => {
    const { response } = this.call;
    // With fewer bytes than announced, the client would see a broken answer.
    if (!response.headersSent || response.hasHeader('content-length')) return false;
    endInTime(response);
    return true;
  };
}
