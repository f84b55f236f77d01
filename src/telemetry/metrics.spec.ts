import { describe, expect, it } from '@jest/globals';
import { Metrics } from './metrics.js';

const BOUNDED_LABELS = [
  'route',
  'code',
  'provider',
  'limit',
  'manager',
  'outcome',
  'result',
  'method',
  'status',
  'server',
  'state',
  'unit',
  'reason',
];

describe('Metrics', () => {
  it('uses only labels with bounded values', async () => {
    const metrics = new Metrics();
    const ours = metrics.registry.getMetricsAsArray().filter(({ name }) => name.startsWith('gateway_'));
    expect(ours.map(({ name }) => name).sort()).toEqual([
      'gateway_connections_refused_total',
      'gateway_database_connections',
      'gateway_failovers_total',
      'gateway_http_answers_broken_off_total',
      'gateway_http_request_duration_seconds',
      'gateway_http_requests_total',
      'gateway_in_flight_requests',
      'gateway_limit_batch_failures_total',
      'gateway_limit_batch_seconds',
      'gateway_limit_batch_size',
      'gateway_limit_decisions_total',
      'gateway_limit_monitored_total',
      'gateway_mcp_first_byte_seconds',
      'gateway_mcp_open_streams',
      'gateway_mcp_request_duration_seconds',
      'gateway_mcp_requests_total',
      'gateway_price_missing_total',
      'gateway_reservations_open',
      'gateway_reservations_reaped_total',
      'gateway_search_units_total',
      'gateway_secret_fetch_duration_seconds',
      'gateway_secret_fetches_total',
      'gateway_secret_stale_served_total',
      'gateway_tokens_total',
      'gateway_upstream_busy_total',
      'gateway_upstream_connections',
      'gateway_upstream_duration_seconds',
      'gateway_upstream_queue_seconds',
      'gateway_upstream_requests_total',
      'gateway_usage_above_bound_total',
      'gateway_usage_drift_check_failures_total',
      'gateway_usage_drift_nano',
      'gateway_usage_dropped_total',
      'gateway_usage_quantities_total',
      'gateway_usage_rollup_drift',
    ]);
    for (const metric of ours) {
      const labels: unknown = 'labelNames' in metric ? metric.labelNames : undefined;
      expect(BOUNDED_LABELS).toEqual(expect.arrayContaining(Array.isArray(labels) ? labels : ['unknown']));
    }
  });

  it('keeps separate metrics for two applications in one process', async () => {
    const [first, second] = [new Metrics(), new Metrics()];
    first.searchUnits.inc({ provider: 'cohere' }, 2);
    expect(await first.registry.metrics()).toContain('gateway_search_units_total{provider="cohere"} 2');
    expect(await second.registry.metrics()).not.toContain('provider="cohere"');
  });

  it("includes the process's memory and event loop delay", async () => {
    const text = await new Metrics().registry.metrics();
    expect(text).toContain('process_resident_memory_bytes');
    expect(text).toContain('nodejs_eventloop_lag_seconds');
  });
});
