import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { describeDefect } from '../../common/errors/describe-defect.js';
import { toStorableOrNull, toStorableText } from '../../common/storable-text.js';
import { Clock } from '../../common/time/clock.js';
import { isDataRefused } from '../../database/database-errors.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';
import type { McpCall } from './mcp-call.entity.js';
import { McpCallStore } from './mcp-call.store.js';

const FLUSH_MS = 500;
const BATCH_ROWS = 200;
/** With the database away, the oldest rows are given up for the newest: calls must not wait for their bookkeeping. */
const MAX_WAITING = 10_000;
const MAX_INTEGER = 2 ** 31 - 1;

export type McpCallRecord = Omit<McpCall, 'id' | 'createdAt'>;

/** Writes down calls of MCP servers, some at a time and behind the callers' backs. */
@Injectable()
export class McpCallRecorder {
  /** Oldest first. */
  private waiting: McpCall[] = [];
  /** How many of them, from the first one on, the database may be taking just now. */
  private underWay = 0;
  /** Given up since the log was last told. */
  private lost = 0;
  private timer: NodeJS.Timeout | undefined;
  private writing = Promise.resolve();

  constructor(
    @Inject(McpCallStore) private readonly calls: Pick<McpCallStore, 'insert'>,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  record(call: McpCallRecord): void {
    this.waiting.push(storableRow(call, this.clock.now()));
    if (this.waiting.length > MAX_WAITING) {
      this.waiting.splice(this.underWay, 1);
      this.lost += 1;
    }
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Writes what is waiting. Never fails: what cannot be written is tried again later. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing = this.writing.then(() => this.write());
    return this.writing;
  }

  private async write(): Promise<void> {
    try {
      while (this.waiting.length > 0) {
        const rows = this.waiting.slice(0, BATCH_ROWS);
        this.underWay = rows.length;
        await this.writeRows(rows);
      }
    } catch (error) {
      this.logger.warn({ event: 'mcp_calls_not_written', calls: this.waiting.length, error: describeDefect(error) });
      this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS * 10).unref();
    } finally {
      this.underWay = 0;
      if (this.lost > 0) this.logger.error({ event: 'mcp_calls_lost', calls: this.lost });
      this.lost = 0;
    }
  }

  /** A row that the database refuses must not keep the others out: it is looked for, half by half, and given up. */
  private async writeRows(rows: readonly McpCall[]): Promise<void> {
    try {
      await this.calls.insert(rows);
    } catch (error) {
      if (!isDataRefused(error)) throw error;
      const middle = Math.ceil(rows.length / 2);
      if (middle < rows.length) {
        await this.writeRows(rows.slice(0, middle));
        return this.writeRows(rows.slice(middle));
      }
      this.logger.error({ event: 'mcp_calls_lost', calls: rows.length, error: describeDefect(error) });
    }
    const done = new Set(rows);
    this.waiting = this.waiting.filter((call) => !done.has(call));
  }
}

/** What clients decide goes in as the columns can hold it: a stream may be open for longer than 2^31 ms. */
function storableRow(call: McpCallRecord, createdAt: Date): McpCall {
  return {
    id: randomUUID(),
    organisationId: call.organisationId,
    workspaceId: call.workspaceId,
    serverId: call.serverId,
    serverSlug: call.serverSlug,
    callerType: call.callerType,
    callerId: toStorableText(call.callerId, 255),
    userId: toStorableOrNull(call.userId, 255),
    httpMethod: call.httpMethod,
    rpcMethod: toStorableOrNull(call.rpcMethod, 128),
    tool: toStorableOrNull(call.tool, 255),
    status: call.status,
    errorCode: call.errorCode,
    firstByteMs: call.firstByteMs === null ? null : Math.min(call.firstByteMs, MAX_INTEGER),
    totalMs: Math.min(call.totalMs, MAX_INTEGER),
    bytesIn: call.bytesIn,
    bytesOut: call.bytesOut,
    traceId: toStorableOrNull(call.traceId, 128),
    createdAt,
  };
}
