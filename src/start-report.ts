import { makesSigningKey } from './identity/jwt/signing-key-file.js';
import { isIP } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DataSource } from 'typeorm';
import { VERSION } from './common/constants.js';
import { errorCodeOf } from './common/errors/describe-error.js';
import { AppConfig } from './config/environment.js';

/** Something that an operator should know of, and may want so. */
export interface StartWarning {
  readonly code: string;
  readonly message: string;
}

/** What only the database knows. */
export interface DatabaseFacts {
  readonly migrations: { readonly applied: number; readonly known: number; readonly last: string | null };
  /** Models of recent calls without a price, as `provider/model`; undefined when they could not be found out. */
  readonly unpriced: readonly string[] | undefined;
}

/** The members of the first log line: what runs here, with which parts, and what may be wrong. Holds no secret. */
export function startReport(config: AppConfig, { migrations, unpriced }: DatabaseFacts): object {
  return {
    event: 'starting',
    version: VERSION,
    node: process.version,
    environment: config.NODE_ENV,
    host: config.listenHost,
    port: config.PORT,
    metrics_port: config.METRICS_PORT,
    database: databaseOf(config),
    migrations,
    redis: redisOf(config),
    parts: partsOf(config),
    warnings: [...settingWarnings(config), ...priceWarnings(unpriced)],
  };
}

function databaseOf({ DATABASE_URL: text, DATA_DIR: folder }: AppConfig): object {
  if (text === undefined) return { kind: 'embedded', folder };
  // As libpq has it, the host may stand in a parameter.
  const url = new URL(text.replace(/^([^/]*\/\/[^/@]*@)(?=\/)/, '$1localhost'));
  const host = url.searchParams.get('host') ?? url.hostname;
  return { kind: 'postgresql', host, port: Number(url.port || 5432), name: decodeURIComponent(url.pathname.slice(1)) };
}

function redisOf(config: AppConfig): object {
  const { REDIS_URL: url, REDIS_SENTINEL_URLS: sentinels, REDIS_CLUSTER_URLS: cluster } = config;
  if (cluster.length > 0) return { kind: 'cluster', hosts: cluster.map(hostOf) };
  if (sentinels.length > 0) return { kind: 'sentinel', hosts: sentinels.map(hostOf) };
  return url === undefined ? { kind: 'none' } : { kind: 'server', hosts: [hostOf(url)] };
}

function hostOf(url: string): string {
  return new URL(url).host;
}

/** The optional parts that are on. */
function partsOf(config: AppConfig): readonly string[] {
  const parts = {
    admin_oidc: config.ADMIN_OIDC_ISSUER,
    oidc_login: config.ADMIN_OIDC_CLIENT_ID,
    mcp_oauth: config.MCP_OAUTH_ISSUER,
    mcp_public_url: config.MCP_PUBLIC_URL,
    signing_key: config.JWT_PRIVATE_KEY ?? (makesSigningKey(config) || undefined),
    tracing: config.OTEL_EXPORTER_OTLP_ENDPOINT,
    metrics_token: config.METRICS_TOKEN,
    metrics_port: config.METRICS_PORT,
    trusted_proxies: config.TRUST_PROXY.length > 0 || undefined,
    cors_origins: config.CORS_ORIGINS.length > 0 || undefined,
    egress_proxy: config.EGRESS_PROXY,
    egress_ca: config.EGRESS_CA_FILE,
    egress_allow: config.EGRESS_ALLOW.length > 0 || undefined,
    secret_identity: config.SECRET_IDENTITY_ALLOW.length > 0 || undefined,
    aws_service_role: config.AWS_SERVICE_ROLE_ORGANISATIONS.length > 0 || undefined,
    google_identity: config.GOOGLE_IDENTITY_ORGANISATIONS.length > 0 || undefined,
    previous_encryption_keys: config.TOLLGATE_ENCRYPTION_KEYS_PREVIOUS.length > 0 || undefined,
    outage_grace: config.DATABASE_OUTAGE_GRACE_SECONDS || undefined,
    ledger_retention: config.USAGE_LEDGER_DAYS,
    bodies_of_calls: config.REQUEST_LOG_BODIES,
    unpriced_calls: config.USAGE_UNPRICED === 'allow' || undefined,
    console: config.CONSOLE === 'off' ? undefined : config.CONSOLE,
    docs: config.DOCS === 'off' ? undefined : config.DOCS,
  };
  return Object.entries(parts).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

function settingWarnings(config: AppConfig): readonly StartWarning[] {
  const isOpen = !isOfThisMachine(config.listenHost);
  const { METRICS_PORT, METRICS_TOKEN, DOCS } = config;
  const metricsAreOpen = isOpen && METRICS_PORT === undefined && METRICS_TOKEN === undefined;
  const found: readonly (StartWarning | false)[] = [
    config.JWT_PRIVATE_KEY === undefined &&
      !makesSigningKey(config) && {
        code: 'no_signing_key',
        message: 'JWT_PRIVATE_KEY is not set: MCP servers with the method jwt_header cannot be called.',
      },
    isOpen && {
      code: 'plain_http',
      message: 'The gateway listens for plain http beyond this machine: put a proxy with TLS in front of it.',
    },
    metricsAreOpen && {
      code: 'metrics_open',
      message: '/metrics needs no key: set METRICS_TOKEN or METRICS_PORT, or close it in the proxy.',
    },
    isOpen &&
      DOCS === 'on' && {
        code: 'docs_open',
        message: '/docs needs no key: set DOCS to key, metrics_port or off, or close it in the proxy.',
      },
    config.NODE_ENV !== 'production' &&
      isOpen && {
        code: 'not_production',
        message: 'NODE_ENV is not production, although others can reach the gateway.',
      },
  ];
  return found.filter((warning) => warning !== false);
}

function isOfThisMachine(host: string): boolean {
  const isLoopback = isIP(host) === 4 ? host.startsWith('127.') : host === '::1';
  return isLoopback || host === 'localhost';
}

function priceWarnings(unpriced: readonly string[] = []): readonly StartWarning[] {
  if (unpriced.length === 0) return [];
  const message = `Models in use have no price (POST /v1/prices sets one): ${unpriced.join(', ')}`;
  return [{ code: 'price_missing', message }];
}

/** Of a day and of so many calls, so that a large ledger does not delay the start. */
const UNPRICED = `
  SELECT DISTINCT provider || '/' || model AS name FROM (
    SELECT provider, model, price_ids, quantities FROM usage_events WHERE at > now() - interval '1 day' LIMIT 50000
  ) AS recent
  WHERE provider IS NOT NULL AND model IS NOT NULL AND price_ids = '{}' AND quantities <> '{}' ORDER BY name LIMIT 10`;

export async function readDatabaseFacts(app: NestExpressApplication): Promise<DatabaseFacts> {
  const dataSource = app.get(DataSource);
  const applied: readonly { readonly name: string }[] = await dataSource.query(
    'SELECT name FROM migrations ORDER BY timestamp',
  );
  const migrations = {
    applied: applied.length,
    known: dataSource.migrations.length,
    last: applied.at(-1)?.name ?? null,
  };
  try {
    const rows: readonly { readonly name: string }[] = await dataSource.query(UNPRICED);
    return { migrations, unpriced: rows.map(({ name }) => name) };
  } catch (error) {
    // A database that is busy must not keep the gateway from starting.
    if (errorCodeOf(error) === undefined) throw error;
    return { migrations, unpriced: undefined };
  }
}
