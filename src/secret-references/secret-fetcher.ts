import { isNativeError } from 'node:util/types';
import { Inject, Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway.error.js';
import { withTimeout } from '../common/time/timeout.js';
import { AppConfig } from '../config/environment.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { type SecretDocument, SecretError } from './managers/secret-manager.types.js';
import { SecretManagers } from './secret-managers.js';
import type { SecretReference } from './secret-reference.entity.js';
import { SecretReferenceEncryptor } from './secret-reference.credentials.js';

/** A manager may need several requests for one secret (log in, look where it is, read it): together this many times the time for one. */
const REQUESTS_IN_TIME = 4;

/** Fetches secrets from their managers. Reports the outcome to metrics and the log, never the secret. */
@Injectable()
export class SecretFetcher {
  private readonly timeoutMs: number;

  constructor(
    private readonly managers: SecretManagers,
    private readonly vault: SecretReferenceEncryptor,
    private readonly metrics: Metrics,
    @Inject(LOGGER) private readonly logger: Logger,
    config: AppConfig,
  ) {
    this.timeoutMs = REQUESTS_IN_TIME * config.SECRET_MANAGER_TIMEOUT_MS;
  }

  /** @throws SecretError, and nothing else */
  async fetch(reference: SecretReference): Promise<SecretDocument> {
    const { id, organisationId, managerType: manager } = reference;
    const startedAt = performance.now();
    let outcome = 'ok';
    try {
      return await withTimeout(this.timeoutMs, this.ask(reference), () => tooLate(this.timeoutMs));
    } catch (cause) {
      const error = toSecretError(cause);
      outcome = error.code;
      this.logger.warn({
        event: 'secret_fetch_failed',
        secret_reference_id: id,
        organisation_id: organisationId,
        manager,
        code: error.code,
        detail: error.detail,
      });
      throw error;
    } finally {
      this.metrics.secretFetches.inc({ manager, outcome });
      this.metrics.secretFetchSeconds.observe({ manager }, (performance.now() - startedAt) / 1000);
    }
  }

  private async ask(reference: SecretReference): Promise<SecretDocument> {
    const { organisationId, secretPath: path, secretVersion } = reference;
    return this.managers.fetch(reference.managerType, {
      organisationId,
      authConfig: this.vault.open(reference),
      path,
      version: secretVersion ?? undefined,
    });
  }
}

function tooLate(limitMs: number): SecretError {
  return new SecretError('timeout', `no answer within ${limitMs} ms`);
}

/** Foreign errors are known by their names only: their messages may quote anything. */
function toSecretError(cause: unknown): SecretError {
  if (cause instanceof SecretError) return cause;
  if (cause instanceof GatewayError && cause.code === 'secret_unavailable') {
    return new SecretError('decryption_failed', cause.reason ?? 'the stored auth_config does not open', { cause });
  }
  return new SecretError('manager_failed', `unexpected: ${isNativeError(cause) ? cause.name : typeof cause}`, {
    cause,
  });
}
