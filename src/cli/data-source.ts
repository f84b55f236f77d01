import 'reflect-metadata';
import { readSettings } from '../config/read-settings.js';
import { endOnCrash } from '../database/embedded/end-on-crash.js';
import { TollgateDataSource } from '../database/tollgate-data-source.js';
import { ENTITIES } from '../entities.js';

/** What TypeORM's command line works on; `scripts/migration.mjs` names this file. */
export default new TollgateDataSource(readSettings(), ENTITIES, { statementTimeout: 'none', onCrash: endOnCrash });
