import { createHash } from 'node:crypto';
import { Agent } from 'node:https';
import type { HttpService } from '@nestjs/axios';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../common/time/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import { vaultScheme } from '../auth-config/vault.scheme.js';
import { SecretError, type SecretDocument, type SecretManager, type SecretRequest } from './secret-manager.types.js';
import { VaultHttp } from './vault-http.js';
import { VaultKv } from './vault-kv.js';
import { loginFor, SERVICE_ACCOUNT_TOKEN_PATH, type VaultLease } from './vault-login.js';
import { vaultPathProblem } from './vault-path.js';
import { VaultSession } from './vault-session.js';

const MAX_SESSIONS = 500;
/** Credentials that are not used any more are not kept in memory. */
const SESSION_IDLE_MS = 60 * 60 * 1_000;

interface Connection {
  readonly session: VaultSession;
  readonly kv: VaultKv;
}

/** HashiCorp Vault and OpenBao, key/value engines of version 1 and 2. */
export class HashicorpVault implements SecretManager {
  readonly type = 'vendorC_vault';
  private readonly connections: LRUCache<string, Connection>;

  constructor(
    private readonly http: Pick<HttpService, 'axiosRef'>,
    private readonly clock: Clock,
    private readonly logger: Pick<Logger, 'warn'>,
    private readonly serviceAccountTokenPath: string = SERVICE_ACCOUNT_TOKEN_PATH,
  ) {
    this.connections = new LRUCache({
      max: MAX_SESSIONS,
      ttl: SESSION_IDLE_MS,
      updateAgeOnGet: true,
      ttlAutopurge: true,
      ttlResolution: 0,
      perf: { now: () => clock.monotonic() },
    });
  }

  async fetch(request: SecretRequest): Promise<SecretDocument> {
    const problem = vaultPathProblem(request.path);
    if (problem !== undefined) throw new SecretError('invalid_request', `secret_path ${problem}`);
    const { session, kv } = this.connectionFor(request);
    const { path, version, authConfig } = request;
    return session.run(path, (send) => kv.read(send, { path, version, kvVersion: authConfig['vendorC_kv_version'] }));
  }

  async close(): Promise<void> {
    const connections = [...this.connections.values()];
    this.connections.clear();
    await Promise.all(connections.map(({ session }) => session.close()));
  }

  private connectionFor(request: SecretRequest): Connection {
    const key = fingerprint(request);
    const known = this.connections.get(key);
    if (known !== undefined) return known;
    const connection = this.connect(request);
    this.connections.set(key, connection);
    return connection;
  }

  private connect({ authConfig }: SecretRequest): Connection {
    const ca = authConfig['vendorC_ca_cert'];
    const http = new VaultHttp(
      this.http,
      {
        baseUrl: (authConfig['vendorC_addr'] ?? '').replace(/\/+$/, ''),
        namespace: authConfig['vendorC_namespace'],
        httpsAgent: ca === undefined ? undefined : new Agent({ ca }),
      },
      [...vaultScheme.sensitive].map((field) => authConfig[field] ?? ''),
    );
    const prepareLogin = loginFor(authConfig, this.serviceAccountTokenPath);
    const lease = prepareLogin === undefined ? lastingLease(authConfig['vendorC_token'] ?? '') : undefined;
    return { session: new VaultSession(http, this.clock, this.logger, prepareLogin, lease), kv: new VaultKv() };
  }
}

/** A configured token, which its owner keeps valid. */
function lastingLease(token: string): VaultLease {
  return { token, durationMs: 0, renewAt: Infinity, expiresAt: Infinity, isRenewable: false, usesLeft: undefined };
}

/** Identifies a session: by organisation, address, namespace and every credential. */
function fingerprint({ organisationId, authConfig }: SecretRequest): string {
  const fields = Object.entries(authConfig).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([organisationId, fields]))
    .digest('hex');
}
