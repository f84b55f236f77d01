export class HealthResponse {
  readonly status: 'ok';
}
