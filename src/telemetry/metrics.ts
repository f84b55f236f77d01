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
  readonly upstreamRequests = new Counter({
    name: 'gateway_upstream_requests_total',
    help: 'Provider calls by provider and final status, or the kind of failure',
    labelNames: ['provider', 'code'],
    registers: [this.registry],
  });
  readonly upstreamSeconds = new Histogram({
    name: 'gateway_upstream_duration_seconds',
    help: 'Time of a provider call, retries included',
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

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }
}
