import { Inject, Injectable } from '@nestjs/common';
import { describeDefect } from '../../common/errors/describe-error.js';
import type { PreparedRow } from '../../database/grouped-insert.js';
import { WriteBehind } from '../../database/write-behind.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';
import { type McpCallRow, McpCallStore } from './mcp-call.store.js';

/** Writes the rows of MCP calls asynchronously. Rows are dropped while the database is down, because calls must not wait for them. */
@Injectable()
export class McpCallRecorder extends WriteBehind<McpCallRow, PreparedRow> {
  constructor(@Inject(McpCallStore) calls: Pick<McpCallStore, 'prepare' | 'insert'>, @Inject(LOGGER) logger: Logger) {
    super({
      prepare: (call) => calls.prepare(call),
      write: (rows) => calls.insert(rows),
      onFailure: (cause, waiting) =>
        logger.warn({ event: 'mcp_calls_not_written', calls: waiting, error: describeDefect(cause) }),
      onLoss: (count, cause) =>
        logger.error({
          event: 'mcp_calls_lost',
          calls: count,
          ...(cause === undefined ? {} : { error: describeDefect(cause) }),
        }),
      maxBatch: 500,
      maxWaiting: 10_000,
      gatherMs: 500,
      retryPauseMs: 5_000,
      drainMs: 5_000,
    });
  }
}
