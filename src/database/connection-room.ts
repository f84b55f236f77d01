import type { DataSource } from 'typeorm';

/** A connection of the migrations may still be closing on the server when the first one of the pool opens. */
const LEAST_CONNECTIONS = 2;

interface ConnectionLimit {
  /** What sets it, for the operator. */
  readonly owner: string;
  /** -1: none. */
  readonly most: number;
}

/** PostgreSQL exempts superusers from the first two. */
const LIMITS = `
  WITH me AS (SELECT rolname, rolsuper, rolconnlimit FROM pg_roles WHERE rolname = session_user)
  SELECT format('the role "%s" (CONNECTION LIMIT)', rolname) AS owner, rolconnlimit AS most FROM me WHERE NOT rolsuper
  UNION ALL
  SELECT format('the database "%s" (CONNECTION LIMIT)', datname), datconnlimit
    FROM pg_database, me WHERE datname = current_database() AND NOT rolsuper
  UNION ALL
  SELECT 'the server (max_connections, without those that it reserves)',
    current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
      - COALESCE(current_setting('reserved_connections', true)::integer, 0)`;

/**
 * A gateway whose pool cannot grow to its size starts, and fails under load: some requests find no connection.
 * @throws Error that names the limit and the setting
 */
export async function assertRoomForPool(dataSource: Pick<DataSource, 'query'>, poolSize: number): Promise<void> {
  const needed = Math.max(poolSize, LEAST_CONNECTIONS);
  const limits: readonly ConnectionLimit[] = await dataSource.query(LIMITS);
  const tooLow = limits.find(({ most }) => most >= 0 && most < needed);
  if (tooLow === undefined) return;
  throw new Error(
    `The database of DATABASE_URL has no room for DATABASE_POOL_SIZE: ${tooLow.owner} allows ${tooLow.most} at a time, ` +
      `and a gateway needs ${needed}`,
  );
}
