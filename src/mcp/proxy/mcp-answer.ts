import type { GatewayError } from '../../common/errors/gateway.error.js';
import { endInTime } from '../../common/http/closing-answers.js';
import type { AnswerSink } from '../../upstream/stream-exchange.js';
import { UpstreamFailure, type UpstreamHead } from '../../upstream/upstream.types.js';
import type { McpForward, McpHooks } from './mcp-proxy.types.js';
import { filterChain } from './filter-chain.js';
import { checkedStart, refusedBody } from './readable-answer.js';
import { clientHead, isEventStream, isPlain } from './response-head.js';

const NO_HOOKS: McpHooks = {};
/** TCP probes a silent client this often. Otherwise a client that disappears would keep its stream open. */
const CLIENT_PROBE_MS = 30_000;
/** The head of an answer waits this long for its first byte, which may still make it an error. */
const HEAD_WAIT_MS = 100;

/** One answer of an MCP server as the client gets it: its head, its filter, and how it may end. */
export class McpAnswer {
  readonly #hooks: McpHooks;
  /** The headers that were set on the response: name, value, name, value …. */
  #head: readonly string[] = [];
  #onStreamOver: (() => void) | undefined;
  #headWait: NodeJS.Timeout | undefined;

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
    const { request, response, target, expectsAnswer = false } = this.call;
    const asked = { method: request.method, transport: target.transport, expectsAnswer };
    const refused = refusedBody(head, asked);
    const changed = refused ?? this.#hooks.bodyFilter?.(head);
    if (changed && !isPlain(head)) {
      throw new UpstreamFailure('incomplete', 'the MCP server compressed an answer that has to be read');
    }
    const start = refused ? undefined : checkedStart(head, asked);
    const { status, headers, flush } = clientHead(head, this.#hooks, changed !== undefined);
    this.#head = headers;
    response.statusCode = status;
    for (let at = 0; at + 1 < headers.length; at += 2) response.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
    if (flush && start === undefined) response.flushHeaders();
    else if (flush) this.#headWait = setTimeout(() => response.flushHeaders(), HEAD_WAIT_MS);
    const isStream = isEventStream(head);
    if (isStream && request.method !== 'GET') this.openStream();
    const boundMs = isStream ? Infinity : this.idleMs;
    const isLeftOpen = (): boolean => !response.headersSent;
    return {
      stream: response,
      filter: filterChain(start, changed),
      watcher,
      idleMs: boundMs,
      pauseMs: boundMs,
      isLeftOpen,
      endEarly: this.#endEarly,
    };
  };

  /** Call once, when the exchange is over. */
  readonly over = (): void => {
    clearTimeout(this.#headWait);
    this.#onStreamOver?.();
  };

  /** Removes the headers of the answer before an error replaces it: its encoding, session or length would be wrong for the error. */
  withdraw(): void {
    const { response } = this.call;
    clearTimeout(this.#headWait);
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
