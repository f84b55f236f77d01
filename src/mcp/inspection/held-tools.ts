import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { describeDefect } from '../../common/errors/describe-error.js';
import type { JsonObject } from '../../common/json/read.js';
import { Clock } from '../../common/time/clock.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';
import { McpServerToolStore } from '../servers/mcp-server-tool.store.js';
import { type SeenTool, toSeenTool } from '../servers/seen-tool.js';
import { toolHash } from '../servers/tool-hash.js';
import type { UsableMcpServer } from '../servers/usable-mcp-server.js';

const MAX_SEEN = 10_000;
/** By then the change is stored, and every replica has read it. */
const BELIEVED_MS = 60_000;

type Pinned = Pick<UsableMcpServer, 'id' | 'organisationId'> & {
  readonly acceptedTools: NonNullable<UsableMcpServer['acceptedTools']>;
};

/**
 * Holds back tools of pinned servers from the moment on in which a list on its way to a client shows another definition. Storing
 * the change takes time, and the client may call the tool as soon as it has the list.
 */
@Injectable()
export class HeldTools implements BeforeApplicationShutdown {
  /** The last definitions, by server and tool. */
  private readonly seen = new LRUCache<string, { readonly hash: string; readonly until: number }>({ max: MAX_SEEN });
  /** Changes that are stored in the next turn of the event loop. */
  private readonly changes = new Map<string, { readonly server: Pinned; readonly tools: Map<string, SeenTool> }>();
  private storing = Promise.resolve();

  constructor(
    @Inject(McpServerToolStore) private readonly tools: Pick<McpServerToolStore, 'note'>,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Whether a tool is as it was accepted. Call it for each tool of a list, before the list goes on. */
  isAccepted(server: Pinned, name: string, definition: JsonObject): boolean {
    const key = keyOf(server, name);
    const hash = toolHash(definition);
    const isNews = this.lastHashOf(key) !== hash;
    this.seen.set(key, { hash, until: this.clock.monotonic() + BELIEVED_MS });
    if (server.acceptedTools.get(name)?.hash === hash) return true;
    if (isNews) this.store(server, toSeenTool(name, definition));
    return false;
  }

  /** Whether a tool may be called. */
  mayCall(server: Pinned, name: string): boolean {
    const accepted = server.acceptedTools.get(name);
    if (accepted === undefined || accepted.isHeld) return false;
    return (this.lastHashOf(keyOf(server, name)) ?? accepted.hash) === accepted.hash;
  }

  /** Whether a later list has shown another definition. */
  isOutdated(server: Pick<Pinned, 'id'>, { name, hash }: Pick<SeenTool, 'name' | 'hash'>): boolean {
    const last = this.lastHashOf(keyOf(server, name));
    return last !== undefined && last !== hash;
  }

  /** Resolves when all changes so far are stored. */
  async flush(): Promise<void> {
    this.storing = this.storing.then(() => this.storeAll());
    return this.storing;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }

  private lastHashOf(key: string): string | undefined {
    const last = this.seen.get(key);
    return last !== undefined && this.clock.monotonic() < last.until ? last.hash : undefined;
  }

  private store(server: Pinned, tool: SeenTool): void {
    if (this.changes.size === 0) setImmediate(() => void this.flush());
    const change = this.changes.get(server.id) ?? { server, tools: new Map() };
    this.changes.set(server.id, change);
    change.tools.set(tool.name, tool);
  }

  /** Never fails: the next list has the same tools. */
  private async storeAll(): Promise<void> {
    const changes = [...this.changes.values()];
    this.changes.clear();
    for (const { server, tools } of changes) {
      try {
        await this.tools.note(server, [...tools.values()]);
      } catch (cause) {
        const facts = { mcp_server_id: server.id, tools: tools.size, error: describeDefect(cause) };
        this.logger.warn({ event: 'mcp_tools_not_noted', ...facts });
      }
    }
  }
}

/** No id has a slash. */
function keyOf({ id }: Pick<Pinned, 'id'>, name: string): string {
  return `${id}/${name}`;
}
