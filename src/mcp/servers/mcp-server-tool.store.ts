import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, type Repository } from 'typeorm';
import type { Snapshots } from '../../audit/audit-changes.js';
import type { Actor } from '../../audit/audit.service.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { toSkipTake } from '../../common/pagination/list.js';
import type { SearchPageQuery } from '../../common/pagination/list.query.js';
import { isStorableText, toStorableText } from '../../common/storable-text.js';
import { Clock } from '../../common/time/clock.js';
import { both, searched } from '../../database/list-options.js';
import { allColumns } from '../../database/rows.js';
import { McpServer } from './mcp-server.entity.js';
import { McpServerTool } from './mcp-server-tool.entity.js';
import { McpToolNotices } from './mcp-tool-notices.js';
import { type SeenTool, storableSchema } from './seen-tool.js';
import { compareTools, isHeld, type ListedTool, removed } from './tool-changes.js';
import type { AcceptedTool, UsableMcpServer } from './usable-mcp-server.js';

/** The length of the column. Tools with longer names are not stored. */
const MAX_NAME_CHARACTERS = 255;
const MAX_DESCRIPTION_CHARACTERS = 4_096;
/** The most tools of a server, over all of its lists. */
export const MAX_TOOLS = 1_000;
/** How often an unchanged tool is stored again, to update when it was last seen. */
const SEEN_AGAIN_MS = 3_600_000;

/** A server and its organisation. */
interface ServerOfTenant {
  readonly id: string;
  readonly organisationId: string;
}

/** A choice of an administrator. */
interface ToolChoice {
  readonly name: string;
  readonly enabled: boolean;
  readonly hash?: string | null | undefined;
  readonly held?: boolean | undefined;
}

/** The tools of a server that its callers cannot use, and for a pinned one, the definitions that they can. */
type ToolRules = Pick<UsableMcpServer, 'disabledTools' | 'acceptedTools'>;

/** Tools by name, cut to fit the columns. */
type Listed = ReadonlyMap<string, ListedTool>;
type ToolsByName = ReadonlyMap<string, McpServerTool>;

/** Stores the tools of servers: when they were last seen, and which are disabled. */
@Injectable()
export class McpServerToolStore {
  private readonly listeners: (() => void)[] = [];

  constructor(
    @InjectRepository(McpServerTool) private readonly tools: Repository<McpServerTool>,
    private readonly notices: McpToolNotices,
    private readonly clock: Clock,
  ) {}

  /** Calls back when tools of a pinned server have changed and must not be used any more. */
  onHold(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** A page of tools by name, with their schemas and the total; all tools without a page. */
  async list(serverId: string, query?: SearchPageQuery): Promise<[McpServerTool[], number]> {
    const select = allColumns(this.tools.metadata);
    return this.tools.findAndCount({
      select,
      where: both([{ serverId }], searched(query?.search, ['name', 'description'])),
      order: { name: 'ASC' },
      ...(query && toSkipTake(query)),
    });
  }

  async rulesOf({ id: serverId, pin }: Pick<McpServer, 'id' | 'pin'>): Promise<ToolRules> {
    const select = { name: true, enabled: true, hash: true, acceptedHash: true };
    const rows = await this.tools.find({ select, where: pin ? { serverId } : { serverId, enabled: false } });
    const disabledTools = new Set(rows.filter(({ enabled }) => !enabled).map(({ name }) => name));
    const accepted = rows.flatMap((tool): (readonly [string, AcceptedTool])[] => {
      const { name, acceptedHash: hash } = tool;
      return hash === null ? [] : [[name, { hash, isHeld: isHeld(tool, { pin }) }]];
    });
    // Before the first list, there is nothing to compare with.
    return { disabledTools, acceptedTools: pin && accepted.length > 0 ? new Map(accepted) : undefined };
  }

  /**
   * Stores a server's whole list, which `actor` requested. Missing tools are deleted, unless they are disabled: they
   * may return. Writes nothing for a deleted server.
   */
  async remember(server: ServerOfTenant, seen: readonly SeenTool[], actor?: Actor): Promise<void> {
    await this.compare(server, seen, actor, true);
  }

  /**
   * Stores the tools that one caller was shown, which may be a part of all. Tools are added and updated, never deleted,
   * enabled or disabled. Writes nothing for unchanged tools or a deleted server. Returns whether a tool has changed.
   */
  async note(server: ServerOfTenant, seen: readonly SeenTool[], actor?: Actor): Promise<boolean> {
    return this.compare(server, seen, actor, false);
  }

  /**
   * Enables or disables tools, also before the server has them. Returns the tools that change, for the audit log. The
   * server is locked.
   */
  async setEnabled(
    manager: EntityManager,
    serverId: string,
    choices: readonly ToolChoice[],
  ): Promise<Required<Snapshots>> {
    const known = await manager.findBy(McpServerTool, { serverId, name: In(choices.map(({ name }) => name)) });
    const before = new Map(known.map(({ name, enabled }) => [name, enabled]));
    const changed = choices.filter(({ name, enabled }) => before.get(name) !== enabled);
    const rows = changed.map(({ name, enabled }) => ({ serverId, name, enabled }));
    if (rows.length > 0) await manager.upsert(McpServerTool, rows, ['serverId', 'name']);
    return {
      before: toolsOf(changed.map(({ name }) => ({ name, enabled: before.get(name) }))),
      after: toolsOf(rows),
    };
  }

  /**
   * Accepts held tools as they are. Returns the hashes by name.
   * @throws GatewayError `conflict` for a tool that is not the one with the given hash any more
   */
  async accept(
    manager: EntityManager,
    server: Pick<McpServer, 'id' | 'pin'>,
    choices: readonly ToolChoice[],
  ): Promise<Readonly<Record<string, string>>> {
    const chosen = new Map(choices.filter(({ held }) => held === false).map((choice) => [choice.name, choice]));
    if (chosen.size === 0) return {};
    const tools = await manager.findBy(McpServerTool, { serverId: server.id, name: In([...chosen.keys()]) });
    const held = tools.filter((tool) => isHeld(tool, server));
    for (const { name, hash } of held) {
      if ((chosen.get(name)?.hash ?? hash) === hash) continue;
      throw new GatewayError('conflict', {
        message: `The tool ${name} has changed again; read it first.`,
        param: 'tools',
      });
    }
    for (const { name, hash } of held) {
      await manager.update(McpServerTool, { serverId: server.id, name }, { acceptedHash: hash });
    }
    return Object.fromEntries(held.map(({ name, hash }) => [name, hash ?? '']));
  }

  /** Accepts all tools of a server that is pinned from now on. */
  async acceptAll(serverId: string): Promise<void> {
    await this.tools.update({ serverId }, { acceptedHash: () => '"hash"' });
  }

  /** @param isWhole whether tools that are not in the list are gone */
  private async compare(
    { id: serverId, organisationId }: ServerOfTenant,
    seen: readonly SeenTool[],
    actor: Actor | undefined,
    isWhole: boolean,
  ): Promise<boolean> {
    const listed = storable(seen);
    const now = this.clock.now();
    const { isPinned, hasChanged } = await this.tools.manager.transaction(async (manager) => {
      const server = await lockedServer(manager, serverId, organisationId);
      if (server === null) return { isPinned: false, hasChanged: false };
      const known = await manager.findBy(McpServerTool, { serverId });
      const isGone = ({ name, enabled }: McpServerTool): boolean => isWhole && enabled && !listed.has(name);
      const gone = known.filter(isGone);
      if (gone.length > 0) await manager.delete(McpServerTool, { serverId, name: In(gone.map(({ name }) => name)) });
      const kept = byName(known.filter((tool) => !isGone(tool)));
      const found = withRoom(listed, kept).filter((tool) => isWhole || !isFresh(kept.get(tool.name), tool, now));
      const { rows, changes } = compareTools(server, byName(known), found, now);
      if (rows.length > 0) await manager.upsert(McpServerTool, [...rows], ['serverId', 'name']);
      await this.notices.report(manager, server, [...changes, ...removed(gone)], actor);
      const hasChanged = rows.some(({ name, hash }) => kept.get(name)?.hash !== hash);
      return { isPinned: server.pin && rows.length > 0, hasChanged };
    });
    if (isPinned) for (const listener of this.listeners) listener();
    return hasChanged;
  }
}

/** Locks the server, if it exists, so that its tools are written by one transaction at a time and no two deadlock. */
async function lockedServer(manager: EntityManager, id: string, organisationId: string): Promise<McpServer | null> {
  const select = { id: true, organisationId: true, workspaceId: true, slug: true, name: true, pin: true };
  const lock = { mode: 'pessimistic_write' } as const;
  return manager.findOne(McpServer, { select, where: { id, organisationId }, lock });
}

export function isStorableTool({ name }: SeenTool): boolean {
  return name !== '' && name.length <= MAX_NAME_CHARACTERS && isStorableText(name);
}

/** Cuts tools to fit the columns; leaves out tools whose names do not fit. */
function storable(tools: readonly SeenTool[]): Listed {
  const listed = tools.filter(isStorableTool);
  return new Map(
    listed.map(({ name, description, hash = null, inputSchema }) => [
      name,
      { name, description: storableText(description), hash, inputSchema: storableSchema(inputSchema) },
    ]),
  );
}

/** Returns the known tools, and as many others as there is room for. */
function withRoom(listed: Listed, known: ToolsByName): readonly ListedTool[] {
  let room = MAX_TOOLS - known.size;
  return [...listed.values()].filter(({ name }) => {
    if (known.has(name)) return true;
    room -= 1;
    return room >= 0;
  });
}

function toolsOf(tools: readonly { readonly name: string; readonly enabled: boolean | undefined }[]): object {
  return Object.fromEntries(tools.map(({ name, enabled }) => [name, { enabled }]));
}

function byName(tools: readonly McpServerTool[]): ToolsByName {
  return new Map(tools.map((tool) => [tool.name, tool]));
}

function storableText(text: string | undefined): string | null {
  return text === undefined ? null : toStorableText(text, MAX_DESCRIPTION_CHARACTERS);
}

function isFresh(known: McpServerTool | undefined, { description, hash }: ListedTool, now: Date): boolean {
  if (known === undefined || known.seenAt === null || known.description !== description) return false;
  if (hash !== null && known.hash !== hash) return false;
  return now.getTime() - known.seenAt.getTime() < SEEN_AGAIN_MS;
}
