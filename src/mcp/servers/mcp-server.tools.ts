import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, type Repository } from 'typeorm';
import { Clock } from '../../common/time/clock.js';
import { McpServerTool } from './mcp-server-tool.entity.js';

/** As long as the column: names of tools that are longer are not remembered. */
const MAX_NAME_CHARACTERS = 255;
const MAX_DESCRIPTION_CHARACTERS = 4_096;
/** A server that lists more is not remembered whole. */
export const MAX_TOOLS = 1_000;

/** A tool as a server lists it. */
export interface SeenTool {
  readonly name: string;
  readonly description?: string | undefined;
}

/** What is known of the tools of servers: when they were last seen, and which of them are disabled. */
@Injectable()
export class McpServerTools {
  constructor(
    @InjectRepository(McpServerTool) private readonly tools: Repository<McpServerTool>,
    private readonly clock: Clock,
  ) {}

  async list(serverId: string): Promise<readonly McpServerTool[]> {
    return this.tools.find({ where: { serverId }, order: { name: 'ASC' } });
  }

  async disabledNames(serverId: string): Promise<ReadonlySet<string>> {
    const rows = await this.tools.find({ select: { name: true }, where: { serverId, enabled: false } });
    return new Set(rows.map(({ name }) => name));
  }

  /** Remembers a server's whole list. Tools that are gone are forgotten, unless they are disabled: they may come back. */
  async remember(serverId: string, seen: readonly SeenTool[]): Promise<void> {
    const storable = seen.filter(({ name }) => name.length <= MAX_NAME_CHARACTERS).slice(0, MAX_TOOLS);
    const seenAt = this.clock.now();
    const byName = new Map(storable.map((tool) => [tool.name, tool]));
    await this.tools.manager.transaction(async (manager) => {
      const known = await manager.findBy(McpServerTool, { serverId });
      const gone = known.filter(({ name, enabled }) => enabled && !byName.has(name)).map(({ name }) => name);
      if (gone.length > 0) await manager.delete(McpServerTool, { serverId, name: In(gone) });
      const rows = [...byName.values()].map(({ name, description }) => ({
        serverId,
        name,
        description: description?.slice(0, MAX_DESCRIPTION_CHARACTERS) ?? null,
        seenAt,
      }));
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
