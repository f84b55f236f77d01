import { wrapError } from '../common/errors/describe-error.js';
import { isDatabaseUnavailable, isEntryRefused, isOutOfConnections } from './database-errors.js';

/** For the terminal: what a database, or its driver, complains of, with the setting that it comes from. */
export function explainDatabaseFailure(cause: unknown): Error {
  if (isOutOfConnections(cause))
    return wrapError('The database of DATABASE_URL has no room for DATABASE_POOL_SIZE', cause);
  const isAway = isDatabaseUnavailable(cause) && !isEntryRefused(cause);
  return wrapError(`The database of DATABASE_URL cannot be ${isAway ? 'reached' : 'used'}`, cause);
}
