import type { Principal, Tenant } from '../access/principal.js';
import type { Scope } from '../access/scopes.js';
import { ERROR_CODES } from '../common/errors/error-codes.js';
import type { AttentionKind, OverviewAttentionResponse } from './overview.response.js';

/** Of each kind. */
const MOST = 20;
const ALMOST = 0.8;
const KEY_DAYS = 7;
/** Newest calls that are looked at, so that a day of many calls costs no more. */
const RECENT_CALLS = 10_000;

/** A row of every statement below. */
export interface AttentionRow {
  readonly kind: AttentionKind;
  readonly id: string | null;
  readonly name: string;
  readonly detail: string | null;
  readonly used_share: number | null;
  readonly enforcement: OverviewAttentionResponse['enforcement'];
  readonly at: Date | null;
}

interface Source {
  /** Without it, a caller may not know of these. */
  readonly scope: Scope;
  /** $1 organisation, $2 workspace or null, $3 now */
  readonly sql: string;
}

const NO_LIMIT = 'NULL::double precision AS used_share, NULL AS enforcement';
const OWN = (table: string): string =>
  `${table}.organisation_id = $1 AND ($2::uuid IS NULL OR ${table}.workspace_id = $2)`;

/** A pattern for the id of the running window: a policy whose reset was changed still has groups of others. */
const WINDOW = `CASE p.periodic_reset WHEN 'monthly' THEN to_char($3::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM')
  WHEN 'weekly' THEN to_char($3::timestamptz AT TIME ZONE 'UTC', 'IYYY-"W"IW')
  ELSE coalesce('%+' || split_part(p.periodic_reset, 'd@', 1), 'cum') END`;

const GROUPS: Source = {
  scope: 'policies.list',
  sql: `
    SELECT kind, id, name, detail, used_share, enforcement, at FROM (
      SELECT *, row_number() OVER (PARTITION BY kind ORDER BY enforcement DESC, used_share DESC, bucket_id) AS place FROM (
        SELECT CASE WHEN b.used >= b.credit_limit OR b.exhausted_at IS NOT NULL THEN 'group_exhausted' ELSE 'limit_near' END AS kind,
          p.id, coalesce(p.name, p.slug) AS name, b.value_key AS detail,
          CASE WHEN b.credit_limit > 0 THEN b.used / b.credit_limit::double precision ELSE 1 END AS used_share, p.enforcement,
          b.resets_at AS at, b.id AS bucket_id
        FROM usage_buckets b JOIN usage_policies p ON p.id = b.policy_id AND p.organisation_id = b.organisation_id
        WHERE ${OWN('p')} AND p.status = 'active' AND (b.used >= b.credit_limit * ${ALMOST} OR b.exhausted_at IS NOT NULL)
          AND (b.resets_at > $3 OR b.resets_at IS NULL) AND b.window_id LIKE ${WINDOW}
      ) AS groups
    ) AS ranked
    WHERE place <= ${MOST} ORDER BY kind, place`,
};

const REFERENCES: Source = {
  scope: 'secret_references.list',
  sql: `
    SELECT 'reference_failing' AS kind, r.id, r.name, r.last_error AS detail, ${NO_LIMIT}, r.last_resolved_at AS at
    FROM secret_references r
    WHERE r.organisation_id = $1 AND r.last_error IS NOT NULL AND $3::timestamptz IS NOT NULL
      AND ($2::uuid IS NULL OR r.allow_all_workspaces OR EXISTS (
        SELECT 1 FROM secret_reference_workspaces w WHERE w.secret_reference_id = r.id AND w.workspace_id = $2))
    ORDER BY r.name, r.id LIMIT ${MOST}`,
};

const KEYS: Source = {
  scope: 'api_keys.list',
  sql: `
    SELECT 'key_expiring' AS kind, k.id, k.name, NULL AS detail, ${NO_LIMIT}, k.expires_at AS at
    FROM api_keys k
    WHERE ${OWN('k')} AND k.expires_at > $3 AND k.expires_at < $3::timestamptz + interval '${KEY_DAYS} days'
    ORDER BY k.expires_at, k.id LIMIT ${MOST}`,
};

const RECENT = `
  SELECT * FROM request_logs l
  WHERE ${OWN('l')} AND l.created_at > $3::timestamptz - interval '1 day'
  ORDER BY l.created_at DESC, l.id DESC LIMIT ${RECENT_CALLS}`;

/** Errors that say nothing of a server: the gateway refused the caller, or ended its stream. For SQL. */
const REFUSALS = Object.entries(ERROR_CODES)
  .filter(([, { status, source }]) => status < 500 && source === 'gateway')
  .map(([code]) => `'${code}'`)
  .join(', ');

const SERVERS: Source = {
  scope: 'logs.list',
  sql: `
    SELECT 'server_failing' AS kind, NULL::uuid AS id, last.mcp_server AS name, last.error_code AS detail, ${NO_LIMIT},
      last.created_at AS at
    FROM (
      SELECT DISTINCT ON (mcp_server) mcp_server, status, error_code, outcome, created_at FROM (${RECENT}) AS recent
      WHERE mcp_server IS NOT NULL AND outcome <> 'cancelled' AND (error_code IS NULL OR error_code NOT IN (${REFUSALS}))
      ORDER BY mcp_server, created_at DESC, id DESC
    ) AS last
    WHERE last.status >= 500 OR last.outcome = 'gateway_error'
    ORDER BY last.created_at DESC, name LIMIT ${MOST}`,
};

/** Prices begin with a whole second, and gateways read them again after a while: calls that long after one may lack it. */
const PRICE_DELAY = '1 minute';

/** Calls of models without a price, by model: not of those that got a price of the organisation since the last call. */
const withoutPrice = (kind: AttentionKind, calls: string): string => `
    SELECT '${kind}' AS kind, NULL::uuid AS id, name, count::text AS detail, ${NO_LIMIT}, at
    FROM (SELECT model AS name, count(*) AS count, max(at) AS at FROM (${calls}) AS calls GROUP BY model) AS models
    WHERE NOT EXISTS (SELECT 1 FROM prices p
      WHERE p.organisation_id = $1 AND p.effective_from > models.at - interval '${PRICE_DELAY}' AND p.effective_from <= $3
        AND (p.model = models.name OR (p.model LIKE '%*' AND starts_with(models.name, left(p.model, -1)))))
    ORDER BY count DESC, name LIMIT ${MOST}`;

const REFUSED_MODELS: Source = {
  scope: 'logs.list',
  sql: withoutPrice(
    'model_without_price',
    `SELECT model, created_at AS at FROM (${RECENT}) AS recent WHERE error_code = 'price_unknown' AND model IS NOT NULL`,
  ),
};

const UNCHARGED_MODELS: Source = {
  scope: 'usage.read',
  sql: withoutPrice(
    'model_not_charged',
    `SELECT model, at FROM (
       SELECT e.provider, e.model, e.at, e.price_ids, e.quantities FROM usage_events e
       WHERE ${OWN('e')} AND e.at > $3::timestamptz - interval '1 day'
       ORDER BY e.at DESC, e.id DESC LIMIT ${RECENT_CALLS}
     ) AS recent
     WHERE provider IS NOT NULL AND model IS NOT NULL AND price_ids = '{}' AND quantities <> '{}'`,
  ),
};

/** How long the newest calls took. */
export function latencyStatement(tenant: Tenant, now: Date) {
  return {
    sql: `
      SELECT count(*)::integer AS calls, percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms) AS p50_ms,
        percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms) AS p95_ms
      FROM (${RECENT}) AS recent`,
    parameters: parametersOf(tenant, now),
  };
}

/** What needs attention, of the kinds that the caller may know of; the worst kind first. */
export function attentionStatements(principal: Principal, now: Date) {
  return [GROUPS, REFERENCES, SERVERS, REFUSED_MODELS, UNCHARGED_MODELS, KEYS]
    .filter(({ scope }) => principal.scopes.has(scope))
    .map(({ sql }) => ({ sql, parameters: parametersOf(principal, now) }));
}

function parametersOf({ organisationId, workspaceId }: Tenant, now: Date): readonly unknown[] {
  return [organisationId, workspaceId, now];
}
