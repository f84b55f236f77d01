import type { GatewayError } from '../../common/errors/gateway.error.js';
import { endInTime } from '../../common/http/closing-answers.js';
import type { AnswerSink } from '../../upstream/stream-exchange.js';
import { UpstreamFailure, type UpstreamHead } from '../../upstream/upstream.types.js';
import type { McpForward, McpHooks } from './mcp-proxy.types.js';
import { clientHead, isEventStream, isPlain } from './response-head.js';

const NO_HOOKS: McpHooks = {};
/** TCP looks after a silent client this often, so that one that is gone without a word does not hold its stream forever. */
const CLIENT_PROBE_MS = 30_000;

/** One answer of an MCP server as the client gets it: its head, its filter, and how it may end. */
export class McpAnswer {
  readonly #hooks: McpHooks;
  /** What was written of the answer's head: name, value, name, value …. */
  #head: readonly string[] = [];
  #onStreamOver: (() => void) | undefined;

  constructor(
    private readonly call: McpForward,
    /** How long an answer that is no stream may stand still. */
    private readonly idleMs: number,
    private readonly endStream: (reason: GatewayError) => void,
  ) {
    this.#hooks = call.hooks ?? NO_HOOKS;
  }

  /** Call for a GET before it is sent; an answer that is an event stream opens one by itself. */
  openStream(): void {
    this.call.request.socket.setKeepAlive(true, CLIENT_PROBE_MS);
    this.#onStreamOver = this.#hooks.onStream?.(this.endStream);
  }

  readonly begin = (head: UpstreamHead): AnswerSink => {
    this.#hooks.onHead?.(head);
    const watcher = this.#hooks.bodyWatcher?.(head);
    const filter = this.#hooks.bodyFilter?.(head);
    if (filter && !isPlain(head)) {
      throw new UpstreamFailure('incomplete', 'the MCP server compressed an answer that has to be read');
    }
    const { status, headers, flush } = clientHead(head, this.#hooks, filter !== undefined);
    const { request, response } = this.call;
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

  /** An error takes the answer's place: an encoding, a session or a length of the answer would be said of the error. */
  withdraw(): void {
    const { response } = this.call;
    if (response.headersSent) return;
    for (let at = 0; at < this.#head.length; at += 2) response.removeHeader(this.#head[at] ?? '');
  }

  readonly #endEarly = (): boolean => {
    const { response } = this.call;
    // Short of the length that was announced, it would not be over for the client.
    if (!response.headersSent || response.hasHeader('content-length')) return false;
    endInTime(response);
    return true;
  };
}
