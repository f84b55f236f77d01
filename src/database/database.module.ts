import { type DynamicModule, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { wrapError } from '../common/errors/describe-error.js';
import { keyFileOf, readOrMakeKey } from '../config/encryption-key-file.js';
import { AppConfig } from '../config/environment.js';
import { tellOperator } from '../config/operator-lines.js';
import { endOnCrash } from './embedded/embedded-database.js';
import { assertRoomForPool } from './connection-room.js';
import { type MigrationWait, runMigrations } from './run-migrations.js';
import { type EntityClass, TollgateDataSource } from './tollgate-data-source.js';

/**
 * Stands in for `TypeOrmModule.forRoot`, which cannot start an embedded database; `TypeOrmModule.forFeature` works on it
 * as usual, since the data source has the token that it looks for.
 */
@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Connects and migrates before anything else starts. `entities` come from the composition root: this room knows none. */
  static forRoot(entities: readonly EntityClass[]): DynamicModule {
    const dataSource = {
      provide: DataSource,
      inject: [AppConfig],
      useFactory: (config: AppConfig): Promise<DataSource> => connect(config, entities),
    };
    return { module: DatabaseModule, providers: [dataSource], exports: [dataSource] };
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}

async function connect(config: AppConfig, entities: readonly EntityClass[]): Promise<DataSource> {
  const source = new TollgateDataSource(config, entities, { onCrash: endOnCrash });
  if (source.isEmbedded) {
    assertKey(config);
    await source.initialize();
    await runMigrations(source);
    return source;
  }
  const migrator = await new TollgateDataSource(config, entities, { statementTimeout: 'none' }).initialize();
  try {
    await assertRoomForPool(migrator, config.DATABASE_POOL_SIZE);
    await runMigrations(migrator, tellOfWait).catch((cause: unknown) => {
      throw wrapError('The tables of the database of DATABASE_URL could not be brought up to date', cause);
    });
  } finally {
    await migrator.destroy();
  }
  return source.initialize();
}

/** Before there is a database: one without its key means that the key was lost. */
function assertKey({ TOLLGATE_ENCRYPTION_KEY: chosen, DATA_DIR: dataDir }: AppConfig): void {
  if (chosen !== undefined) return;
  try {
    readOrMakeKey(dataDir);
  } catch (cause) {
    throw wrapError(`The encryption key in ${keyFileOf(dataDir)} cannot be used (its folder is DATA_DIR)`, cause);
  }
}

const WAITS: Readonly<Record<MigrationWait, string>> = {
  gateway:
    'Another gateway is bringing the tables of the database of DATABASE_URL up to date. Tollgate starts once it is done.',
  table:
    'The tables of the database of DATABASE_URL have to be brought up to date, but others use them (a dump, a report). ' +
    'Tollgate starts once they are done.',
};

function tellOfWait(wait: MigrationWait): void {
  tellOperator('info', 'migration_waits', WAITS[wait]);
}
