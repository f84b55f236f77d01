import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { describeDefect } from '../../common/errors/describe-defect.js';
import { toStorableOrNull, toStorableText } from '../../common/storable-text.js';
import { Clock } from '../../common/time/clock.js';
import { isoTexts } from '../../common/time/iso-text.js';
import { isDataRefused } from '../../database/database-errors.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';
import type { McpCall } from './mcp-call.entity.js';
import { type McpCallRow, McpCallStore } from './mcp-call.store.js';

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
  private waiting: McpCallRow[] = [];
  /** How many of them, from the first one on, the database may be taking just now. */
  private underWay = 0;
  /** Given up since the log was last told. */
  private lost = 0;
  private timer: NodeJS.Timeout | undefined;
  private writing = Promise.resolve();
  private readonly isoText = isoTexts();
  /** Full batches are being written, and those that come meanwhile go with them. */
  private isGoingOn = false;
  /** The database failed: what is waiting is tried again when it is time, and not with every further row. */
  private isPutOff = false;

  constructor(
    @Inject(McpCallStore) private readonly calls: Pick<McpCallStore, 'insert'>,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  record(call: McpCallRecord): void {
    this.waiting.push(storableRow(call, this.isoText(this.clock.now().getTime())));
    if (this.waiting.length > MAX_WAITING) {
      this.waiting.splice(this.underWay, 1);
      this.lost += 1;
    }
    if (this.waiting.length >= BATCH_ROWS) this.writeFullBatches();
    else this.flushIn(FLUSH_MS);
  }

  /** Writes what is waiting. Never fails: what cannot be written is tried again later. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.isPutOff = false;
    this.writing = this.writing.then(() => this.write(1));
    return this.writing;
  }

  /** As soon as there are some: rows that wait are what V8 copies most (docs/decisions/0018-garbage-of-requests.md). */
  private writeFullBatches(): void {
    if (this.isGoingOn || this.isPutOff) return;
    this.isGoingOn = true;
    this.writing = this.writing.then(() => this.write(BATCH_ROWS));
  }

  /** Until fewer rows than `least` are waiting. */
  private async write(least: number): Promise<void> {
    try {
      while (this.waiting.length >= least) {
        const rows = this.waiting.slice(0, BATCH_ROWS);
        this.underWay = rows.length;
        await this.writeRows(rows);
        this.isPutOff = false;
      }
    } catch (error) {
      this.logger.warn({ event: 'mcp_calls_not_written', calls: this.waiting.length, error: describeDefect(error) });
      this.isPutOff = true;
      this.flushIn(FLUSH_MS * 10);
    } finally {
      this.underWay = 0;
      this.isGoingOn = false;
      if (this.lost > 0) this.logger.error({ event: 'mcp_calls_lost', calls: this.lost });
      this.lost = 0;
      if (this.waiting.length > 0) this.flushIn(FLUSH_MS);
    }
  }

  private flushIn(milliseconds: number): void {
    this.timer ??= setTimeout(() => void this.flush(), milliseconds).unref();
  }

  /** A row that the database refuses must not keep the others out: it is looked for, half by half, and given up. */
  private async writeRows(rows: readonly McpCallRow[]): Promise<void> {
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
    // They are the first ones still.
    this.waiting.splice(0, rows.length);
    this.underWay -= rows.length;
  }
}

/** What clients decide goes in as the columns can hold it: a stream may be open for longer than 2^31 ms. */
function storableRow(call: McpCallRecord, createdAt: string): McpCallRow {
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
