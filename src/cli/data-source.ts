import 'reflect-metadata';
import { readSettings } from '../config/environment.js';
import { endOnCrash } from '../database/embedded/embedded-database.js';
import { TollgateDataSource } from '../database/tollgate-data-source.js';
import { ENTITIES } from '../entities.js';

/** What TypeORM's command line works on; `scripts/migration.mjs` names this file. */
export default new TollgateDataSource(readSettings(), ENTITIES, { statementTimeout: 'none', onCrash: endOnCrash });
