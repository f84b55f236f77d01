import type { Client, ClientBase, QueryResult } from 'pg';
import { DataSource, type DataSourceOptions, type QueryRunner } from 'typeorm';
import { MIGRATIONS } from '../../migrations/migrations.js';
import type { AppConfig } from '../config/environment.js';
import { isConnectionSpoilt, explainDatabaseFailure } from './database-errors.js';
import { startEmbeddedDatabase, type EmbeddedDatabase } from './embedded/embedded-database.js';
import { isObject } from '../common/json/read.js';

/** Longest wait for a connection and for one statement: a request must fail, not hang, when the database does not answer. */
const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 5_000;
/** After this the server itself ends a statement: its connection is free, and what the gateway refused with 503 is not done later. */
const SERVER_TIMEOUT_MS = 4_500;

/** What the gateway's statements and its driver rely on; a role or a database may have other defaults. */
const SESSION = [
  // The driver reads no dates in any other form: without a word, a key would never expire.
  "SET datestyle = 'ISO, MDY'",
  "SET timezone = 'UTC'",
  "SET default_transaction_isolation = 'read committed'",
  'SET standard_conforming_strings = on',
  // A statement has one limit, by the gateway's own count; and migrations have none.
  'SET lock_timeout = 0',
];
const WITHOUT_LIMITS = ['SET statement_timeout = 0', 'SET idle_in_transaction_session_timeout = 0'];

/** The one connection to the embedded database is kept: another client in between would keep the gateway out. */
const NEVER = 0;

/** A class with `@Entity()`. */
export type EntityClass = new () => object;

export interface DataSourceBehaviour {
  /** Told when the embedded database stops by itself. */
  readonly onCrash?: (cause: Error) => void;
  /** `none` for migrations: they may take long, and so may the wait for another replica's. */
  readonly statementTimeout?: 'none';
}

type DatabaseSettings = Pick<AppConfig, 'DATABASE_URL' | 'DATABASE_POOL_SIZE' | 'DATA_DIR'>;

/** TypeORM's data source on PostgreSQL; without DATABASE_URL it starts and stops the embedded one itself. */
export class TollgateDataSource extends DataSource {
  private embedded: EmbeddedDatabase | undefined;

  constructor(
    private readonly settings: DatabaseSettings,
    entities: readonly EntityClass[],
    private readonly behaviour: DataSourceBehaviour = {},
  ) {
    super(toOptions(settings, entities, behaviour));
  }

  get isEmbedded(): boolean {
    return this.settings.DATABASE_URL === undefined;
  }

  override async initialize(): Promise<this> {
    if (this.isEmbedded) {
      this.embedded = await startEmbeddedDatabase(this.settings.DATA_DIR, this.behaviour.onCrash);
      this.setOptions({ host: this.embedded.socketDir });
    }
    try {
      await super.initialize();
      if (!this.isEmbedded) await assertUsable(this);
      return this;
    } catch (error) {
      if (this.isInitialized) await super.destroy();
      await this.stopEmbedded();
      throw this.isEmbedded ? error : explainDatabaseFailure(error);
    }
  }

  /** Of a runner that closes its connection when a statement is not answered in time, or by a server that takes no writes. */
  override createQueryRunner(...given: Parameters<DataSource['createQueryRunner']>): QueryRunner {
    const runner = super.createQueryRunner(...given);
    const query = runner.query.bind(runner);
    runner.query = async (...statement: Parameters<QueryRunner['query']>) => {
      try {
        return await query(...statement);
      } catch (error) {
        if (isConnectionSpoilt(error)) await closeConnection(runner);
        throw error;
      }
    };
    return runner;
  }

  override async destroy(): Promise<void> {
    await super.destroy();
    await this.stopEmbedded();
  }

  private async stopEmbedded(): Promise<void> {
    await this.embedded?.stop();
    this.embedded = undefined;
  }
}

function toOptions(
  settings: DatabaseSettings,
  entities: readonly EntityClass[],
  behaviour: DataSourceBehaviour,
): DataSourceOptions {
  // No network lies between the gateway and the embedded database: when it does not answer, it is at work.
  const isUnbounded = behaviour.statementTimeout === 'none' || settings.DATABASE_URL === undefined;
  return {
    type: 'postgres',
    ...connectionOptions(settings),
    entities: [...entities],
    migrations: [...MIGRATIONS],
    migrationsTableName: 'migrations',
    migrationsTransactionMode: 'each',
    synchronize: false,
    logging: false,
    // The name in TypeORM's terms for gen_random_uuid(), which PostgreSQL has by itself: no extension is needed.
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    extra: {
      application_name: 'tollgate',
      ...(isUnbounded ? {} : { query_timeout: STATEMENT_TIMEOUT_MS }),
      ...(settings.DATABASE_URL === undefined
        ? { idleTimeoutMillis: NEVER, onConnect: resetSession }
        : { onConnect: (client: ClientBase) => beginSession(client, isUnbounded) }),
    },
    // An idle connection that breaks (database restart) is replaced by the pool; the next query says if it cannot be.
    poolErrorHandler: () => undefined,
  };
}

/** By statements: poolers refuse settings that come with the start of a connection. */
async function beginSession(client: ClientBase, isUnbounded: boolean): Promise<void> {
  const limits = isUnbounded ? WITHOUT_LIMITS : [`SET statement_timeout = ${SERVER_TIMEOUT_MS}`];
  await client.query([...SESSION, ...limits].join('; '));
}

/** The embedded database has one session, which is as the connection before this one has left it. */
function resetSession(client: ClientBase): Promise<QueryResult> {
  return client.query('DISCARD ALL');
}

/** The pool does not take a closed connection back. */
async function closeConnection(runner: QueryRunner): Promise<void> {
  const connection: Pick<Client, 'end'> = await runner.connect();
  void connection.end().catch(() => undefined);
}

function connectionOptions(settings: DatabaseSettings) {
  if (settings.DATABASE_URL !== undefined) return { url: settings.DATABASE_URL, poolSize: settings.DATABASE_POOL_SIZE };
  // One session serves the embedded database, so a second connection would only wait for the first.
  return { port: 5432, username: 'postgres', password: 'unused', database: 'postgres', poolSize: 1 };
}

interface Properties {
  readonly encoding: string;
  readonly takes_writes: boolean;
}

const PROPERTIES = `
  SELECT current_setting('server_encoding') AS encoding,
    NOT current_setting('transaction_read_only')::boolean AS takes_writes`;

/** @throws Error when the gateway could not serve with this database, though it can be connected to */
async function assertUsable(dataSource: DataSource): Promise<void> {
  const rows: readonly Properties[] = await dataSource.query(PROPERTIES);
  for (const { encoding, takes_writes } of rows) {
    if (encoding !== 'UTF8') throw new Error(`its encoding is ${encoding}, and has to be UTF8`);
    if (!takes_writes) throw new Error('it takes no writes (a standby does not)');
  }
}

/** How the connections to the database are taken: by pg's pool, which TypeORM keeps without a type. */
export function poolCounts({ driver }: DataSource): Readonly<Record<'in_use' | 'idle' | 'waiting', number>> {
  const pool: unknown = Reflect.get(driver, 'master');
  const [total, idle, waiting] = ['totalCount', 'idleCount', 'waitingCount'].map((name) => {
    const count: unknown = isObject(pool) ? Reflect.get(pool, name) : undefined;
    return typeof count === 'number' ? count : 0;
  });
  return { in_use: (total ?? 0) - (idle ?? 0), idle: idle ?? 0, waiting: waiting ?? 0 };
}
