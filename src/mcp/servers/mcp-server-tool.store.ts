import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, type Repository } from 'typeorm';
import { toSkipTake } from '../../common/pagination/list.js';
import type { PageQuery } from '../../common/pagination/page.query.js';
import { isStorableText, toStorableText } from '../../common/storable-text.js';
import { Clock } from '../../common/time/clock.js';
import { McpServer } from './mcp-server.entity.js';
import { McpServerTool } from './mcp-server-tool.entity.js';

/** As long as the column: names of tools that are longer are not remembered. */
const MAX_NAME_CHARACTERS = 255;
const MAX_DESCRIPTION_CHARACTERS = 4_096;
/** Of a server, over all of its lists. */
export const MAX_TOOLS = 1_000;
/** A tool that stays the same is written down again this often, for the time when it was last seen. */
const SEEN_AGAIN_MS = 3_600_000;

/** A tool as a server lists it. */
export interface SeenTool {
  readonly name: string;
  readonly description?: string | undefined;
}

/** A server, and whose it is. */
interface ServerOfTenant {
  readonly id: string;
  readonly organisationId: string;
}

/** By name, as the columns can hold them. */
type Descriptions = ReadonlyMap<string, string | null>;
type ToolsByName = ReadonlyMap<string, McpServerTool>;

/** What is known of the tools of servers: when they were last seen, and which of them are disabled. */
@Injectable()
export class McpServerToolStore {
  constructor(
    @InjectRepository(McpServerTool) private readonly tools: Repository<McpServerTool>,
    private readonly clock: Clock,
  ) {}

  /** By name, and how many there are; all of them without a page. */
  async list(serverId: string, page?: PageQuery): Promise<[McpServerTool[], number]> {
    return this.tools.findAndCount({ where: { serverId }, order: { name: 'ASC' }, ...(page && toSkipTake(page)) });
  }

  async disabledNames(serverId: string): Promise<ReadonlySet<string>> {
    const rows = await this.tools.find({ select: { name: true }, where: { serverId, enabled: false } });
    return new Set(rows.map(({ name }) => name));
  }

  /**
   * Remembers a server's whole list. Tools that are gone are forgotten, unless they are disabled: they may come back. Writes
   * nothing for a server that is gone.
   */
  async remember(server: ServerOfTenant, seen: readonly SeenTool[]): Promise<void> {
    const { id: serverId } = server;
    const listed = storable(seen);
    const seenAt = this.clock.now();
    await this.tools.manager.transaction(async (manager) => {
      if (!(await isLocked(manager, server))) return;
      const known = await manager.findBy(McpServerTool, { serverId });
      const isGone = ({ name, enabled }: McpServerTool): boolean => enabled && !listed.has(name);
      const gone = known.filter(isGone).map(({ name }) => name);
      if (gone.length > 0) await manager.delete(McpServerTool, { serverId, name: In(gone) });
      const kept = byName(known.filter((tool) => !isGone(tool)));
      const rows = withRoom(listed, kept).map(([name, description]) => ({ serverId, name, description, seenAt }));
      if (rows.length > 0) await manager.upsert(McpServerTool, rows, ['serverId', 'name']);
    });
  }

  /**
   * Remembers what one caller was shown, which may be a part: tools are added and updated, never forgotten, and
   * stay enabled or disabled. Writes nothing where nothing is new, and nothing for a server that is gone.
   */
  async note(server: ServerOfTenant, seen: readonly SeenTool[]): Promise<void> {
    const { id: serverId } = server;
    const seenAt = this.clock.now();
    await this.tools.manager.transaction(async (manager) => {
      if (!(await isLocked(manager, server))) return;
      const known = byName(await manager.findBy(McpServerTool, { serverId }));
      const rows = withRoom(storable(seen), known).flatMap(([name, description]) =>
        isFresh(known.get(name), description, seenAt) ? [] : [{ serverId, name, description, seenAt }],
      );
      if (rows.length > 0) await manager.upsert(McpServerTool, rows, ['serverId', 'name']);
    });
  }

  /** Also for tools that were never seen: they can be disabled before a server has them. */
  async setEnabled(
    manager: EntityManager,
    serverId: string,
    choices: readonly { readonly name: string; readonly enabled: boolean }[],
  ): Promise<void> {
    const rows = choices.map(({ name, enabled }) => ({ serverId, name, enabled }));
    if (rows.length > 0) await manager.upsert(McpServerTool, rows, ['serverId', 'name']);
  }
}

/** Locks the server, if it exists, so that its tools are written by one transaction at a time and no two deadlock. */
async function isLocked(manager: EntityManager, { id, organisationId }: ServerOfTenant): Promise<boolean> {
  const lock = { mode: 'pessimistic_write' } as const;
  return (await manager.findOne(McpServer, { select: { id: true }, where: { id, organisationId }, lock })) !== null;
}

export function isStorableTool({ name }: SeenTool): boolean {
  return name !== '' && name.length <= MAX_NAME_CHARACTERS && isStorableText(name);
}

/** Names and descriptions as the columns can hold them; a tool whose name they cannot hold is left out. */
function storable(tools: readonly SeenTool[]): Descriptions {
  return new Map(tools.filter(isStorableTool).map(({ name, description }) => [name, storableText(description)]));
}

/** Those that are known, and of the others as many as there is room for. */
function withRoom(listed: Descriptions, known: ToolsByName): readonly (readonly [string, string | null])[] {
  let room = MAX_TOOLS - known.size;
  return [...listed].filter(([name]) => {
    if (known.has(name)) return true;
    room -= 1;
    return room >= 0;
  });
}

function byName(tools: readonly McpServerTool[]): ToolsByName {
  return new Map(tools.map((tool) => [tool.name, tool]));
}

function storableText(text: string | undefined): string | null {
  return text === undefined ? null : toStorableText(text, MAX_DESCRIPTION_CHARACTERS);
}

function isFresh(tool: McpServerTool | undefined, description: string | null, now: Date): boolean {
  if (tool === undefined || tool.seenAt === null || tool.description !== description) return false;
  return now.getTime() - tool.seenAt.getTime() < SEEN_AGAIN_MS;
}
