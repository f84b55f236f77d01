import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { describeDefect } from '../common/errors/describe-error.js';
import { toStorableOrNull, toStorableText } from '../common/storable-text.js';
import { Clock } from '../common/time/clock.js';
import { AppConfig } from '../config/environment.js';
import { GroupedInsert, type PreparedRow, type RowShape } from '../database/grouped-insert.js';
import { WriteBehind } from '../database/write-behind.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import type { EndedRequest } from '../telemetry/request-sink.js';
import { fromQuantitiesJson, tokensOf } from '../usage/units.js';
import { RequestLog } from './request-log.entity.js';

const SESSION = 'session';
const MAX_INTEGER = 2 ** 31 - 1;
const OWN = [
  'id',
  'created_at',
  'trace_id',
  'session',
  'tokens',
  'cost_nano',
  'duration_ms',
  'upstream_ms',
  'first_token_ms',
  'metadata',
];

interface Row extends EndedRequest {
  readonly id: string;
  readonly at: Date;
}

/** Writes a row for each call that is over, after its answer. Rows are dropped while the database is away: calls do not wait. */
@Injectable()
export class RequestLogRecorder implements OnApplicationShutdown {
  private readonly waiting: WriteBehind<Row, PreparedRow>;

  constructor(
    @Inject(DataSource) dataSource: DataSource,
    private readonly clock: Clock,
    private readonly config: AppConfig,
    @Inject(LOGGER) logger: Logger,
  ) {
    const rows = new GroupedInsert(dataSource, dataSource.getMetadata(RequestLog), OWN, SHAPE);
    this.waiting = new WriteBehind({
      prepare: (row) => rows.prepare(row),
      write: (batch) => rows.insert(batch),
      onFailure: (cause, waiting) =>
        logger.warn({ event: 'request_logs_not_written', requests: waiting, error: describeDefect(cause) }),
      onLoss: (count, cause) =>
        logger.error({
          event: 'request_logs_lost',
          requests: count,
          ...(cause === undefined ? {} : { error: describeDefect(cause) }),
        }),
      maxBatch: 500,
      maxWaiting: 10_000,
      gatherMs: 500,
      retryPauseMs: 5_000,
      drainMs: 5_000,
    });
  }

  /** Requests of no known caller, or of no call, leave no row. */
  add(request: EndedRequest): void {
    const { facts } = request;
    const isCall = facts.virtual_key !== undefined || facts.provider !== undefined || facts.mcp_server !== undefined;
    if (!isCall || facts.organisation_id === undefined || this.config.REQUEST_LOG_DAYS === 0) return;
    this.waiting.add({ ...request, id: randomUUID(), at: this.clock.now() });
  }

  flush(): Promise<void> {
    return this.waiting.flush();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.waiting.close();
  }
}

const SHAPE: RowShape<Row> = {
  isAlike: ({ facts: one, ...a }, { facts: other, ...b }) =>
    a.route === b.route &&
    a.method === b.method &&
    a.status === b.status &&
    one.actor_id === other.actor_id &&
    one.actor_type === other.actor_type &&
    one.user_id === other.user_id &&
    one.organisation_id === other.organisation_id &&
    one.workspace_id === other.workspace_id &&
    one.virtual_key === other.virtual_key &&
    one.provider === other.provider &&
    one.model === other.model &&
    one.mcp_server === other.mcp_server &&
    one.mcp_method === other.mcp_method &&
    one.error_code === other.error_code &&
    one.upstream_attempts === other.upstream_attempts,
  sharedOf: ({ facts, method, route, status }) => ({
    organisation_id: facts.organisation_id,
    workspace_id: facts.workspace_id ?? null,
    actor_type: toStorableText(facts.actor_type ?? '', 32),
    actor_id: toStorableText(facts.actor_id ?? '', 255),
    user_id: toStorableOrNull(facts.user_id ?? null, 255),
    method: toStorableText(method, 16),
    route: toStorableText(route, 255),
    virtual_key: toStorableOrNull(facts.virtual_key ?? null, 255),
    provider: toStorableOrNull(facts.provider ?? null, 64),
    model: toStorableOrNull(facts.model ?? null, 255),
    mcp_server: toStorableOrNull(facts.mcp_server ?? null, 255),
    mcp_method: toStorableOrNull(facts.mcp_method ?? null, 128),
    status,
    error_code: toStorableOrNull(facts.error_code ?? null, 64),
    upstream_attempts: facts.upstream_attempts ?? null,
  }),
  ownOf: ({ id, at, traceId, facts, durationMs, metadata }) => ({
    id,
    created_at: at.getTime(),
    trace_id: toStorableText(traceId, 128),
    session: toStorableOrNull(metadata[SESSION] ?? null, 255),
    tokens: tokensIn(facts),
    cost_nano: facts.cost_nano ?? null,
    duration_ms: whole(durationMs),
    upstream_ms: whole(facts.upstream_ms),
    first_token_ms: whole(facts.first_token_ms),
    metadata: Object.fromEntries(
      Object.entries(metadata).map(([name, value]) => [toStorableText(name, 255), toStorableText(value, 255)]),
    ),
  }),
};

/** What limits of type `tokens` count; null for calls that report none. */
function tokensIn({ quantities, total_tokens: total }: EndedRequest['facts']): number | null {
  return quantities === undefined ? (total ?? null) : Number(tokensOf(fromQuantitiesJson(quantities)));
}

/** A stream may be open for longer than 2^31 ms. */
function whole(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.min(Math.round(ms), MAX_INTEGER);
}
