import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Prometheus metrics. Labels are bounded sets: never a key, user, model, trace or tenant. */
@Injectable()
export class Metrics {
  /** One per application, not the library's global one: several applications may live in one process (tests). */
  readonly registry = new Registry();

  readonly requests = new Counter({
    name: 'gateway_http_requests_total',
    help: 'Answered requests by route and status code; 499 when the client left first',
    labelNames: ['route', 'code'],
    registers: [this.registry],
  });
  readonly brokenOff = new Counter({
    name: 'gateway_http_answers_broken_off_total',
    help: 'Answers that had begun, with the code under which they are counted, and that the gateway could not bring to their end',
    labelNames: ['route'],
    registers: [this.registry],
  });
  readonly requestSeconds = new Histogram({
    name: 'gateway_http_request_duration_seconds',
    help: 'Time from the request line to the end of the answer',
    labelNames: ['route'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly inFlight = new Gauge({
    name: 'gateway_in_flight_requests',
    help: 'Requests that are being handled',
    registers: [this.registry],
  });
  readonly databaseConnections = new Gauge({
    name: 'gateway_database_connections',
    help: 'Connections to the database that are in use and idle, and the statements and transactions that wait for one',
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
    help: 'Provider calls by provider and final status, or the kind of failure; what the gateway refuses before it tries is none',
    labelNames: ['provider', 'code'],
    registers: [this.registry],
  });
  readonly upstreamSeconds = new Histogram({
    name: 'gateway_upstream_duration_seconds',
    help: 'Time of a provider call from its first attempt on, retries included',
    labelNames: ['provider'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly searchUnits = new Counter({
    name: 'gateway_search_units_total',
    help: 'Search units that providers billed',
    labelNames: ['provider'],
    registers: [this.registry],
  });
  readonly tokens = new Counter({
    name: 'gateway_tokens_total',
    help: 'Tokens that providers billed',
    labelNames: ['provider'],
    registers: [this.registry],
  });
  readonly limitDecisions = new Counter({
    name: 'gateway_limit_decisions_total',
    help: 'Calls that usage limits apply to, by what was decided: admit, exceeded, contended, crowded, store_down',
    labelNames: ['result'],
    registers: [this.registry],
  });
  readonly limitMonitored = new Counter({
    name: 'gateway_limit_monitored_total',
    help: 'Calls that a limit which only monitors would have refused: exceeded, contended, price_unknown',
    labelNames: ['result'],
    registers: [this.registry],
  });
  readonly limitRefusalsRemembered = new Counter({
    name: 'gateway_limit_refusals_remembered_total',
    help: 'Calls over their limit that were refused without asking the database, because Redis remembered an earlier refusal',
    registers: [this.registry],
  });
  readonly limitBatchSize = new Histogram({
    name: 'gateway_limit_batch_size',
    help: 'Reservations and settlements, or calls without a limit, that shared one statement',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers: [this.registry],
  });
  readonly limitBatchSeconds = new Histogram({
    name: 'gateway_limit_batch_seconds',
    help: 'Time of one statement of reservations and settlements, or of calls without a limit',
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly limitBatchFailures = new Counter({
    name: 'gateway_limit_batch_failures_total',
    help: 'Statements of reservations and settlements, or of calls without a limit, that the database did not take',
    registers: [this.registry],
  });
  readonly reservationsOpen = new Gauge({
    name: 'gateway_reservations_open',
    help: 'Reservations of all gateways that are not settled yet',
    registers: [this.registry],
  });
  readonly reservationsReaped = new Counter({
    name: 'gateway_reservations_reaped_total',
    help: 'Reservations whose gateway died: their estimate was charged',
    registers: [this.registry],
  });
  readonly usageDrift = new Gauge({
    name: 'gateway_usage_drift_nano',
    help: 'Counters less ledger, added up without their signs: anything but 0 is a defect',
    registers: [this.registry],
  });
  readonly usageDriftCheckFailures = new Counter({
    name: 'gateway_usage_drift_check_failures_total',
    help: 'Comparisons of counters and ledger that could not be made: the drift is that of the last one that could',
    registers: [this.registry],
  });
  readonly usageDropped = new Counter({
    name: 'gateway_usage_dropped_total',
    help: 'Settlements and releases given up: what was reserved for them is presumed spent later, without a limit it is missing',
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
    help: 'Secrets asked of secret managers, by manager and outcome: ok, or the code of the error',
    labelNames: ['manager', 'outcome'],
    registers: [this.registry],
  });
  readonly secretFetchSeconds = new Histogram({
    name: 'gateway_secret_fetch_duration_seconds',
    help: 'Time until a secret manager answered, logging in included',
    labelNames: ['manager'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly secretStaleServed = new Counter({
    name: 'gateway_secret_stale_served_total',
    help: 'Times that an outdated secret was used because its manager failed',
    labelNames: ['manager'],
    registers: [this.registry],
  });
  readonly mcpRequests = new Counter({
    name: 'gateway_mcp_requests_total',
    help: 'Requests to MCP servers by JSON-RPC method (GET and DELETE have none) and status code',
    labelNames: ['method', 'status'],
    registers: [this.registry],
  });
  readonly mcpFirstByteSeconds = new Histogram({
    name: 'gateway_mcp_first_byte_seconds',
    help: 'Time from a request to an MCP server to the head of its answer',
    labelNames: ['method'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly mcpSeconds = new Histogram({
    name: 'gateway_mcp_request_duration_seconds',
    help: 'Time from a request to an MCP server to the end of its answer; streams are left out',
    labelNames: ['method'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly mcpStreams = new Gauge({
    name: 'gateway_mcp_open_streams',
    help: 'Streams that clients have opened with GET',
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }
}
