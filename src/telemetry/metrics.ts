import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { VERSION } from '../common/constants.js';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Names and buckets of OpenTelemetry's conventions for generative AI. */
const GEN_AI_LABELS = ['gen_ai_operation_name', 'gen_ai_provider_name'];
const GEN_AI_SECONDS = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power);
const GEN_AI_TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** Prometheus metrics. Labels are bounded sets: never a key, user, model, trace or tenant. */
@Injectable()
export class Metrics {
  /** One per application, not the library's global one: several applications may live in one process (tests). */
  readonly registry = new Registry();

  readonly buildInfo = new Gauge({
    name: 'tollgate_build_info',
    help: 'Always 1; the labels have the version of the gateway and of Node',
    labelNames: ['version', 'node'],
    registers: [this.registry],
  });
  readonly requests = new Counter({
    name: 'gateway_http_requests_total',
    help: 'Completed requests by route and status code; 499 when the client disconnected first',
    labelNames: ['route', 'code'],
    registers: [this.registry],
  });
  readonly brokenOff = new Counter({
    name: 'gateway_http_answers_broken_off_total',
    help: 'Responses that the gateway aborted after their headers were sent',
    labelNames: ['route'],
    registers: [this.registry],
  });
  readonly requestSeconds = new Histogram({
    name: 'gateway_http_request_duration_seconds',
    help: 'Seconds from the request line to the end of the response',
    labelNames: ['route'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly inFlight = new Gauge({
    name: 'gateway_in_flight_requests',
    help: 'Requests in flight',
    registers: [this.registry],
  });
  readonly connectionsRefused = new Counter({
    name: 'gateway_connections_refused_total',
    help: 'Refused connections by limit: total, address (also requests of one client behind a trusted proxy)',
    labelNames: ['limit'],
    registers: [this.registry],
  });
  readonly databaseConnections = new Gauge({
    name: 'gateway_database_connections',
    help: 'Database connections by state (in use, idle), and statements or transactions that wait for one',
    labelNames: ['state'],
    registers: [this.registry],
    collect: () => {
      for (const [state, count] of Object.entries(this.databaseCounts()))
        this.databaseConnections.set({ state }, count);
    },
  });
  /** Set when there is a database. */
  databaseCounts: () => Readonly<Record<string, number>> = () => ({});
  readonly upstreamRequests = new Counter({
    name: 'gateway_upstream_requests_total',
    help: 'Provider calls by provider and final status or kind of failure, without calls that the gateway refused itself',
    labelNames: ['provider', 'code'],
    registers: [this.registry],
  });
  readonly upstreamSeconds = new Histogram({
    name: 'gateway_upstream_duration_seconds',
    help: 'Seconds of a provider call from its first attempt, retries included',
    labelNames: ['provider'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly modelSeconds = new Histogram({
    name: 'gen_ai_client_operation_duration_seconds',
    help: 'Seconds of a call of a model that was answered, from its first attempt',
    labelNames: GEN_AI_LABELS,
    buckets: GEN_AI_SECONDS,
    registers: [this.registry],
  });
  readonly modelTokens = new Histogram({
    name: 'gen_ai_client_token_usage',
    help: 'Tokens of a call of a model that was answered, by type (input with what a cache had, output)',
    labelNames: [...GEN_AI_LABELS, 'gen_ai_token_type'],
    buckets: GEN_AI_TOKENS,
    registers: [this.registry],
  });
  readonly modelFirstTokenSeconds = new Histogram({
    name: 'gen_ai_client_operation_time_to_first_chunk_seconds',
    help: 'Seconds from the first attempt until the first output in a stream of a model',
    labelNames: GEN_AI_LABELS,
    buckets: GEN_AI_SECONDS,
    registers: [this.registry],
  });
  readonly failovers = new Counter({
    name: 'gateway_failovers_total',
    help: 'Calls that a failed target of a model route handed to the next one, by provider of the failed one and error code',
    labelNames: ['provider', 'reason'],
    registers: [this.registry],
  });
  readonly upstreamConnections = new Gauge({
    name: 'gateway_upstream_connections',
    help: 'Provider connections by state (in_use), calls that wait for one (waiting), and origins at which calls wait (full_origins)',
    labelNames: ['state'],
    registers: [this.registry],
    collect: () => {
      for (const [state, count] of Object.entries(this.upstreamCounts()))
        this.upstreamConnections.set({ state }, count);
    },
  });
  /** Set when there is a client. */
  upstreamCounts: () => Readonly<Record<string, number>> = () => ({});
  readonly upstreamQueueSeconds = new Histogram({
    name: 'gateway_upstream_queue_seconds',
    help: 'Seconds that an attempt at a provider waited for a connection, without attempts that did not wait',
    labelNames: ['provider'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly upstreamBusy = new Counter({
    name: 'gateway_upstream_busy_total',
    help: 'Provider calls refused with provider_busy: no connection was free in time',
    labelNames: ['provider'],
    registers: [this.registry],
  });
  readonly searchUnits = new Counter({
    name: 'gateway_search_units_total',
    help: 'Search units billed by providers',
    labelNames: ['provider'],
    registers: [this.registry],
  });
  readonly tokens = new Counter({
    name: 'gateway_tokens_total',
    help: 'Tokens billed by providers',
    labelNames: ['provider'],
    registers: [this.registry],
  });
  readonly limitDecisions = new Counter({
    name: 'gateway_limit_decisions_total',
    help: 'Calls with usage limits by decision: admit, exceeded, contended, crowded, store_down',
    labelNames: ['result'],
    registers: [this.registry],
  });
  readonly limitMonitored = new Counter({
    name: 'gateway_limit_monitored_total',
    help: 'Calls that a monitoring limit would have refused: exceeded, contended, price_unknown, usage_not_bounded',
    labelNames: ['result'],
    registers: [this.registry],
  });
  readonly limitBatchSize = new Histogram({
    name: 'gateway_limit_batch_size',
    help: 'Reservations and settlements, or calls without a limit, per database statement',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers: [this.registry],
  });
  readonly limitBatchSeconds = new Histogram({
    name: 'gateway_limit_batch_seconds',
    help: 'Seconds per database statement of reservations and settlements, or of calls without a limit',
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly limitBatchFailures = new Counter({
    name: 'gateway_limit_batch_failures_total',
    help: 'Failed database statements of reservations and settlements, or of calls without a limit',
    registers: [this.registry],
  });
  readonly reservationsOpen = new Gauge({
    name: 'gateway_reservations_open',
    help: 'Unsettled reservations of all gateways',
    registers: [this.registry],
  });
  readonly reservationsReaped = new Counter({
    name: 'gateway_reservations_reaped_total',
    help: 'Expired reservations of gateways that died; their estimate was charged',
    registers: [this.registry],
  });
  readonly usageDrift = new Gauge({
    name: 'gateway_usage_drift_nano',
    help: 'Sum of absolute differences between counters and ledger; any value but 0 is a defect',
    registers: [this.registry],
  });
  readonly usageRollupDrift = new Gauge({
    name: 'gateway_usage_rollup_drift',
    help: 'Hourly sums of reports that differ from the ledger, of the last two hours; any value but 0 is a defect',
    registers: [this.registry],
  });
  readonly usageDriftCheckFailures = new Counter({
    name: 'gateway_usage_drift_check_failures_total',
    help: 'Failed comparisons of counters or sums and ledger; the drift shows the last successful one',
    registers: [this.registry],
  });
  readonly usageDropped = new Counter({
    name: 'gateway_usage_dropped_total',
    help: 'Settlements and releases given up; reserved amounts are later presumed spent, calls without a limit are missing',
    registers: [this.registry],
  });
  readonly usageQuantities = new Counter({
    name: 'gateway_usage_quantities_total',
    help: 'What provider calls were charged with, by unit (input, cache_read, output, search_unit, …)',
    labelNames: ['provider', 'unit'],
    registers: [this.registry],
  });
  readonly usageAboveBound = new Counter({
    name: 'gateway_usage_above_bound_total',
    help: 'Provider reports above the computed bound: reported (charged as reported), capped (charged at the bound)',
    labelNames: ['provider', 'result'],
    registers: [this.registry],
  });
  readonly priceMissing = new Counter({
    name: 'gateway_price_missing_total',
    help: 'Calls of models without a price',
    labelNames: ['provider'],
    registers: [this.registry],
  });
  readonly secretFetches = new Counter({
    name: 'gateway_secret_fetches_total',
    help: 'Secret fetches by manager and outcome: ok, or the error code',
    labelNames: ['manager', 'outcome'],
    registers: [this.registry],
  });
  readonly secretFetchSeconds = new Histogram({
    name: 'gateway_secret_fetch_duration_seconds',
    help: 'Seconds until a secret manager answered, login included',
    labelNames: ['manager'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly secretStaleServed = new Counter({
    name: 'gateway_secret_stale_served_total',
    help: 'Uses of an outdated secret because its manager failed',
    labelNames: ['manager'],
    registers: [this.registry],
  });
  readonly mcpRequests = new Counter({
    name: 'gateway_mcp_requests_total',
    help: 'Requests to MCP servers by server, JSON-RPC method (GET and DELETE have none), status code and outcome (ok, tool_error, rpc_error, gateway_error, unknown)',
    labelNames: ['server', 'method', 'status', 'outcome'],
    registers: [this.registry],
  });
  readonly mcpFirstByteSeconds = new Histogram({
    name: 'gateway_mcp_first_byte_seconds',
    help: 'Seconds from a request to an MCP server to the head of its response',
    labelNames: ['method'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly mcpSeconds = new Histogram({
    name: 'gateway_mcp_request_duration_seconds',
    help: 'Seconds from a request to an MCP server to the end of its response, without streams',
    labelNames: ['method'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly mcpStreams = new Gauge({
    name: 'gateway_mcp_open_streams',
    help: 'Open streams that clients started with GET',
    registers: [this.registry],
  });

  constructor() {
    this.buildInfo.set({ version: VERSION, node: process.version }, 1);
    collectDefaultMetrics({ register: this.registry });
  }
}
