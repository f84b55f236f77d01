import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Actor, AuditService } from '../../audit/audit.service.js';
import { auditRecords } from '../../audit/audit-record.js';
import { uuidv7 } from '../../common/uuid.js';
import { Clock } from '../../common/time/clock.js';
import { WebhookEvents } from '../../webhooks/webhook-events.js';
import type { McpServer } from './mcp-server.entity.js';
import type { ToolChange } from './tool-changes.js';

/** The most tools in one event, which must stay small. */
const MAX_NAMED = 50;

const recordOf = auditRecords<'tools_changed'>('mcp_servers', 'mcp-server');

type ChangedServer = Pick<McpServer, 'id' | 'organisationId' | 'workspaceId' | 'slug' | 'name'>;

/** Reports changed tools: an entry of the audit log, and an event for webhooks. */
@Injectable()
export class McpToolNotices {
  constructor(
    private readonly audit: AuditService,
    private readonly events: WebhookEvents,
    private readonly clock: Clock,
  ) {}

  /**
   * Reports changes in the transaction that stores them.
   * @param actor who tested the server; undefined for a list on its way to a client
   */
  async report(
    manager: EntityManager,
    server: ChangedServer,
    changes: readonly ToolChange[],
    actor: Actor | undefined,
  ): Promise<void> {
    if (changes.length === 0) return;
    const { id, organisationId, workspaceId, slug } = server;
    const by = actor ?? { kind: 'gateway', id: 'tool-lists', organisationId };
    const snapshots = { before: { tools: shown(changes, 'before') }, after: { tools: shown(changes, 'after') } };
    await this.audit.record(manager, by, recordOf('tools_changed', server, ['tools'], snapshots));
    const tools = changes.slice(0, MAX_NAMED).map(({ name, change, held }) => ({ name, change, held }));
    const payload = { mcp_server_id: id, slug, total: changes.length, tools };
    const key = `${id}:${uuidv7(this.clock.now())}`;
    await this.events.raise({ organisationId, workspaceId, type: 'mcp_server.tools_changed', key, payload }, manager);
  }
}

function shown(changes: readonly ToolChange[], when: 'before' | 'after'): object {
  return Object.fromEntries(
    changes.flatMap(({ name, [when]: tool }) => {
      return tool === undefined ? [] : [[name, { description: tool.description, hash: tool.hash }] as const];
    }),
  );
}
