import type { JsonObject } from '../../common/json/read.js';
import type { McpServer } from './mcp-server.entity.js';
import type { McpServerTool } from './mcp-server-tool.entity.js';

/** A tool that was listed and can be stored. */
export interface ListedTool {
  readonly name: string;
  readonly description: string | null;
  readonly hash: string | null;
  readonly inputSchema: JsonObject | null;
}

/** The columns of a tool that a list sets. */
export type ToolRow = ListedTool & Pick<McpServerTool, 'serverId' | 'seenAt' | 'acceptedHash' | 'changedAt'>;

/** A difference between a server's tools and the stored ones. */
export interface ToolChange {
  readonly name: string;
  readonly change: 'added' | 'changed' | 'removed';
  /** Whether the tool cannot be used until an administrator accepts it. */
  readonly held: boolean;
  readonly before: ToolShown | undefined;
  readonly after: ToolShown | undefined;
}

type ToolShown = Pick<ListedTool, 'description' | 'hash'>;

/**
 * Changes of a tool within this time after another are not reported. A server that shows each user another definition
 * must not fill the audit log.
 */
const REPORTED_AGAIN_MS = 600_000;

/** Whether a tool cannot be used, since it differs from its accepted definition. */
export function isHeld(
  { hash, acceptedHash }: Pick<McpServerTool, 'hash' | 'acceptedHash'>,
  { pin }: Pick<McpServer, 'pin'>,
): boolean {
  return pin && hash !== null && hash !== acceptedHash;
}

/**
 * Compares a list with the stored tools. The first list of a server is not a change; later ones are compared with it.
 */
export function compareTools(
  server: Pick<McpServer, 'id' | 'pin'>,
  known: ReadonlyMap<string, McpServerTool>,
  listed: readonly ListedTool[],
  now: Date,
): { readonly rows: readonly ToolRow[]; readonly changes: readonly ToolChange[] } {
  const isFirst = ![...known.values()].some(({ acceptedHash }) => acceptedHash !== null);
  const changes: ToolChange[] = [];
  const rows = listed.map(({ name, description, ...tool }): ToolRow => {
    const before = known.get(name);
    const hash = tool.hash ?? before?.hash ?? null;
    const isNew = before === undefined && !isFirst;
    const hasChanged = Boolean(before?.hash) && before?.hash !== hash;
    const acceptedHash = server.pin ? acceptedOf(before, hash, isNew) : hash;
    const { inputSchema } = tool;
    const row = { serverId: server.id, name, description, seenAt: now, hash, acceptedHash, inputSchema };
    const isReported = !before?.changedAt || now.getTime() - before.changedAt.getTime() >= REPORTED_AGAIN_MS;
    if (isNew || (hasChanged && isReported)) {
      const change = isNew ? 'added' : 'changed';
      changes.push({ name, change, held: isHeld(row, server), before, after: row });
    }
    return { ...row, changedAt: hasChanged ? now : (before?.changedAt ?? null) };
  });
  return { rows, changes };
}

export function removed(tools: readonly McpServerTool[]): readonly ToolChange[] {
  return tools.map((before) => ({ name: before.name, change: 'removed', held: false, before, after: undefined }));
}

/** A tool that was configured before its first listing is accepted when it is listed. */
function acceptedOf(before: McpServerTool | undefined, hash: string | null, isNew: boolean): string | null {
  if (isNew) return null;
  return before?.hash ? before.acceptedHash : hash;
}
