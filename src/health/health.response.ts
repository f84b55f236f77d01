export class HealthResponse {
  /** The gateway is healthy. */
  readonly status: 'ok';
}
