import { randomUUID } from 'node:crypto';
import type { NoteRefusal } from './malformed-request.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';
import { UNMATCHED } from '../telemetry/request-log.js';

/** What never becomes a request has neither headers nor a route, and is counted and told all the same. */
export function malformedRequestLog(logger: Logger, metrics: Metrics): NoteRefusal {
  return ({ status, code, reason }) => {
    const traceId = randomUUID();
    metrics.requests.inc({ route: UNMATCHED, code: status });
    logger.info({ event: 'malformed_request', trace_id: traceId, status, error_code: code, error_reason: reason });
    return { 'x-gateway-trace-id': traceId, 'x-request-id': traceId };
  };
}
