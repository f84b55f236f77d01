import { createHash, timingSafeEqual } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway.error.js';
import { requestOf } from '../common/http/execution-context.js';
import { AppConfig } from '../config/environment.js';

const BEARER = /^bearer +(.+)$/i;

/** Where METRICS_PORT or METRICS_TOKEN is set, metrics are not for everyone. */
@Injectable()
export class MetricsGuard implements CanActivate {
  private readonly digest: Buffer | undefined;

  constructor(private readonly config: AppConfig) {
    const { METRICS_TOKEN: token } = config;
    this.digest = token === undefined ? undefined : digestOf(token);
  }

  /** @throws GatewayError `not_found` at the other port, `token_invalid` without the token */
  canActivate(context: ExecutionContext): boolean {
    const { socket, headers } = requestOf(context);
    const { METRICS_PORT: port } = this.config;
    if (port !== undefined && socket.localPort !== port) {
      throw new GatewayError('not_found', { message: 'There is nothing at this address.' });
    }
    const [, given = ''] = BEARER.exec(headers.authorization ?? '') ?? [];
    if (this.digest === undefined || timingSafeEqual(this.digest, digestOf(given))) return true;
    throw new GatewayError('token_invalid', {
      message: 'Metrics need the bearer token of the setting METRICS_TOKEN.',
      reason: given === '' ? 'missing' : 'metrics token',
      headers: { 'www-authenticate': 'Bearer realm="tollgate-metrics"' },
    });
  }
}

/** Digests have one length, which a comparison in constant time needs. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
