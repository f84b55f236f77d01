import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { describeDefect } from '../common/errors/describe-error.js';
import { storableTexts, toStorableOrNull, toStorableText } from '../common/storable-text.js';
import { Clock } from '../common/time/clock.js';
import { uuidv7 } from '../common/uuid.js';
import { AppConfig } from '../config/environment.js';
import { GroupedInsert, type PreparedRow } from '../database/grouped-insert.js';
import { WriteBehind } from '../database/write-behind.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { loggedOutcomeOf } from '../telemetry/logged-outcome.js';
import { tokensOfJson } from '../usage/units.js';
import { LoggedBodies } from './logged-bodies.js';
import { RequestLog } from './request-log.entity.js';
import type { CapturedBodies } from '../telemetry/body-capture.js';
import type { EndedRequest } from '../telemetry/context.middleware.js';

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
  'bodies_until',
  'metadata',
];

/** A call, as it becomes a row. */
interface EndedCall {
  readonly request: EndedRequest;
  readonly id: string;
  readonly at: Date;
  readonly bodiesUntil: Date | undefined;
}

/** Writes a row for each call that is over, after its answer. Rows are dropped while the database is away: calls do not wait. */
@Injectable()
export class RequestLogRecorder implements OnApplicationShutdown {
  private readonly waiting: WriteBehind<EndedCall, PreparedRow>;

  constructor(
    @Inject(DataSource) dataSource: DataSource,
    private readonly clock: Clock,
    private readonly bodies: LoggedBodies,
    private readonly config: AppConfig,
    @Inject(LOGGER) logger: Logger,
  ) {
    const rows = new GroupedInsert(dataSource, dataSource.getMetadata(RequestLog), OWN, { isAlike, sharedOf, ownOf });
    this.waiting = new WriteBehind({
      prepare: rows.prepare,
      write: rows.insert,
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
  readonly add = (request: EndedRequest, bodies?: CapturedBodies): void => {
    const { organisation_id: organisationId, virtual_key: virtualKey, provider, mcp_server: server } = request.facts;
    const isCall = virtualKey !== undefined || provider !== undefined || server !== undefined;
    if (!isCall || organisationId === undefined || this.config.REQUEST_LOG_DAYS === 0) return;
    const at = this.clock.now();
    const id = uuidv7(at);
    const bodiesUntil = bodies === undefined ? undefined : this.bodies.keep({ organisationId, id }, bodies, at);
    this.waiting.add({ request, id, at, bodiesUntil });
  };

  flush(): Promise<void> {
    return this.waiting.flush();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.waiting.close();
  }
}

function isAlike({ request }: EndedCall, { request: before }: EndedCall): boolean {
  const { facts } = request;
  const { facts: others } = before;
  return (
    request.route === before.route &&
    request.method === before.method &&
    request.status === before.status &&
    facts.actor_id === others.actor_id &&
    facts.actor_type === others.actor_type &&
    facts.user_id === others.user_id &&
    facts.organisation_id === others.organisation_id &&
    facts.workspace_id === others.workspace_id &&
    facts.virtual_key === others.virtual_key &&
    facts.provider === others.provider &&
    facts.model === others.model &&
    facts.model_requested === others.model_requested &&
    facts.mcp_server === others.mcp_server &&
    facts.mcp_method === others.mcp_method &&
    facts.error_code === others.error_code &&
    facts.outcome === others.outcome &&
    facts.upstream_attempts === others.upstream_attempts
  );
}

function sharedOf({ request: { facts, method, route, status } }: EndedCall) {
  return {
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
    model_requested: toStorableOrNull(facts.model_requested ?? null, 255),
    mcp_server: toStorableOrNull(facts.mcp_server ?? null, 255),
    mcp_method: toStorableOrNull(facts.mcp_method ?? null, 128),
    status,
    error_code: toStorableOrNull(facts.error_code ?? null, 64),
    outcome: loggedOutcomeOf(status, facts),
    upstream_attempts: facts.upstream_attempts ?? null,
  };
}

/** JSON leaves undefined ones out, and the database reads null: most calls lack half of them. */
function ownOf({ request: { traceId, facts, durationMs, metadata }, id, at, bodiesUntil }: EndedCall) {
  const { [SESSION]: session } = metadata;
  return {
    id,
    created_at: at.getTime(),
    trace_id: toStorableText(traceId, 128),
    session: session === undefined ? undefined : toStorableText(session, 255),
    tokens: facts.quantities === undefined ? facts.total_tokens : tokensOfJson(facts.quantities),
    cost_nano: facts.cost_nano,
    duration_ms: whole(durationMs),
    upstream_ms: whole(facts.upstream_ms),
    first_token_ms: whole(facts.first_token_ms),
    bodies_until: bodiesUntil?.getTime(),
    metadata: storableTexts(metadata, 255),
  };
}

/** A stream may be open for longer than 2^31 ms. */
function whole(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.min(Math.round(ms), MAX_INTEGER);
}
