import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../common/time/clock.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';
import { type UpstreamHead, firstHeader } from '../../upstream/upstream.types.js';
import type { RpcId } from '../mcp-error.js';
import type { BodyWatcher } from '../../upstream/stream-exchange.js';
import { isEventStream, isPlain, mediaTypeOf } from '../proxy/response-head.js';
import { HeldTools } from './held-tools.js';
import { McpServerToolStore } from '../servers/mcp-server-tool.store.js';
import type { SeenTool } from '../servers/seen-tool.js';
import type { UsableMcpServer } from '../servers/usable-mcp-server.js';
import { AnswerGatherer, GatheredBytes } from './answer-gatherer.js';
import type { InspectedBody } from './inspect-body.js';
import { type GatheredAnswer, readToolList } from './tool-list-reader.js';

/** Longer lists are ignored. */
const MAX_LIST_BYTES = 1024 * 1024;
/** Of all lists that are arriving or waiting to be read. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;
/** Per server. Enough for a list in pages; more lists of a busy server say nothing new. */
const LOOKS_PER_PERIOD = 32;
const PERIOD_MS = 60_000;
const PAUSE_MS = 1_000;
const MAX_SERVERS = 10_000;
const MAX_KNOWN_LISTS = 10_000;
/** An unchanged list is stored again this often, to update when its tools were last seen. */
const KNOWN_MS = 3_600_000;

type Watched = Pick<UsableMcpServer, 'id' | 'organisationId' | 'acceptedTools'>;

/** New tools of one server. */
interface News {
  readonly server: Watched;
  readonly tools: Map<string, SeenTool>;
  readonly hashes: string[];
}

interface Waiting extends GatheredAnswer {
  readonly server: Watched;
}

/** Reads copies of the lists of tools that are forwarded to clients, asynchronously, and stores new tools. */
@Injectable()
export class ToolListWatch implements BeforeApplicationShutdown {
  private waiting: Waiting[] = [];
  private timer: NodeJS.Timeout | undefined;
  private reading = Promise.resolve();
  private readonly held = new GatheredBytes(MAX_HELD_BYTES);
  private readonly looks = new LRUCache<string, { count: number; readonly until: number }>({ max: MAX_SERVERS });
  private readonly known = new LRUCache<string, number>({ max: MAX_KNOWN_LISTS });

  constructor(
    private readonly tools: McpServerToolStore,
    private readonly heldTools: HeldTools,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Call it with the head of an answer. Undefined for an answer that is not read. */
  watch(server: Watched, request: InspectedBody | undefined, head: UpstreamHead): BodyWatcher | undefined {
    const ids = idsOf(request);
    return ids.size > 0 && isReadable(head) ? this.gather(server, ids, isEventStream(head)) : undefined;
  }

  /** Watches on the older transport, where answers come on the stream of the session. Call it before the request is sent. */
  watchSession(server: Watched, request: InspectedBody | undefined): BodyWatcher | undefined {
    const ids = idsOf(request);
    return ids.size > 0 ? this.gather(server, ids, true) : undefined;
  }

  private gather(server: Watched, ids: ReadonlySet<RpcId>, isStream: boolean): BodyWatcher | undefined {
    if (!this.mayLook(server.id)) return undefined;
    const { id, organisationId, acceptedTools } = server;
    return new AnswerGatherer(MAX_LIST_BYTES, this.held, (body) => {
      this.waiting.push({ server: { id, organisationId, acceptedTools }, isEventStream: isStream, body, ids });
      this.timer ??= setTimeout(() => void this.flush(), PAUSE_MS).unref();
    });
  }

  /** Reads the waiting lists. Never fails: the next list has the same tools. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.reading = this.reading.then(() => this.read());
    return this.reading;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }

  private mayLook(serverId: string): boolean {
    const now = this.clock.monotonic();
    const known = this.looks.get(serverId);
    const looks = known !== undefined && now < known.until ? known : { count: 0, until: now + PERIOD_MS };
    looks.count += 1;
    this.looks.set(serverId, looks);
    return looks.count <= LOOKS_PER_PERIOD;
  }

  private async read(): Promise<void> {
    const byServer = new Map<string, News>();
    for (const list of this.waiting.splice(0)) {
      this.held.give(list.body.length);
      // One per turn of the event loop: a long list takes some milliseconds, and calls must not wait for several.
      await nextTurn();
      const tools = readToolList(list);
      const hash = hashOf(list.server, tools);
      const { server } = list;
      if (tools.length === 0 || this.isKnown(server, hash)) continue;
      const news: News = byServer.get(server.id) ?? { server, tools: new Map(), hashes: [] };
      news.hashes.push(hash);
      for (const tool of tools) news.tools.set(tool.name, tool);
      byServer.set(server.id, news);
    }
    for (const news of byServer.values()) await this.note(news);
  }

  /** Of a pinned server, no list is known: another replica may have stored another one since. */
  private isKnown({ acceptedTools }: Watched, hash: string): boolean {
    return acceptedTools === undefined && (this.known.get(hash) ?? 0) > this.clock.monotonic();
  }

  private async note({ server, tools, hashes }: News): Promise<void> {
    try {
      // A change is stored at once, and lists of before it wait here.
      const current = [...tools.values()].filter((tool) => !this.heldTools.isOutdated(server, tool));
      const hasChanged = await this.tools.note(server, current);
      // An earlier list would be a change now.
      if (hasChanged) for (const hash of this.known.keys()) if (hash.startsWith(server.id)) this.known.delete(hash);
      const until = this.clock.monotonic() + KNOWN_MS;
      for (const hash of hashes) this.known.set(hash, until);
    } catch (error) {
      const name = error instanceof Error ? error.name : typeof error;
      this.logger.warn({ event: 'mcp_tools_not_noted', mcp_server_id: server.id, tools: tools.size, error: name });
    }
  }
}

function idsOf(request: InspectedBody | undefined): ReadonlySet<RpcId> {
  const ids = new Set<RpcId>();
  for (const { method, id } of request?.messages ?? []) {
    // The id null is also used for errors without a request.
    if (method === 'tools/list' && id !== undefined && id !== null) ids.add(id);
  }
  return ids;
}

function isReadable(head: UpstreamHead): boolean {
  const isJson = mediaTypeOf(firstHeader(head.headers, 'content-type')) === 'application/json';
  return head.status === 200 && isPlain(head) && (isJson || isEventStream(head));
}

function hashOf(server: Watched, tools: readonly SeenTool[]): string {
  const texts = tools.map(({ name, description, hash }) => [name, description, hash]);
  return server.id + createHash('sha256').update(JSON.stringify(texts)).digest('base64');
}
