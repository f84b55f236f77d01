import { isNativeError } from 'node:util/types';
import {
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
  TransactionNotStartedError,
} from 'typeorm';
import { errorCodeOf, wrapError } from '../common/errors/describe-error.js';

const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const UNDEFINED_TABLE = '42P01';
const TOO_MANY_CONNECTIONS = '53300';
/** What `statement_timeout` ends a statement with. */
const QUERY_CANCELED = '57014';

/** PostgreSQL's codes for a lock that others hold, and for a circle of locks: the same may work a moment later. */
const LOCK_CODES = new Set(['55P03', '40P01']);

/** The server takes no writes: a standby, or a database set so. */
const READ_ONLY = '25006';

/** The server answers, but the database was renamed or takes no connections, or the role is locked or has another password. */
const NO_ENTRY_CODES = ['3D000', '55000', '28000', '28P01'] as const;

/**
 * Node's and PostgreSQL's codes for "there is no working connection", or none that gets anywhere now (PostgreSQL manual,
 * appendix A).
 */
const UNAVAILABLE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  ...NO_ENTRY_CODES,
  READ_ONLY,
  // A statement that took too long: another holds what it needs, or the database has too much to do.
  QUERY_CANCELED,
  '25P03',
  '25P04',
  // A standby had to cancel it.
  '40001',
  ...LOCK_CODES,
]);

/**
 * Classes of PostgreSQL's codes: a connection that failed (08P01, a breach of the protocol, is a defect), a resource that is
 * used up (53), an operator's intervention (57P), a failure of its system (58), a damaged table or index.
 */
const UNAVAILABLE_CLASSES = /^(?:08(?!P01)|53|57P|58|XX00[12])/;

/** These end the connection, or do not let it begin, with whatever code: a pooler has 08P01 for all, a full disk XX000. */
const ENDING_SEVERITIES: ReadonlySet<unknown> = new Set(['FATAL', 'PANIC']);

/** The `pg` driver has no code for these; its sentences are all there is. */
const READ_TIMEOUT = 'Query read timeout';
const CONNECTION_MESSAGES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  READ_TIMEOUT,
  'Client has encountered a connection error',
];

/** TypeORM gives a connection up as soon as it breaks: the next statement of its transaction finds no connection, or no transaction. */
const LOST_CONNECTION = [
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
  TransactionNotStartedError,
];

/** Whether an error says that the database cannot do it now, as against a wrong statement. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!isNativeError(error)) return false;
  const code = codeOf(error);
  if (code !== undefined && (UNAVAILABLE_CODES.has(code) || UNAVAILABLE_CLASSES.test(code))) return true;
  if (ENDING_SEVERITIES.has(severityOf(error))) return true;
  if (LOST_CONNECTION.some((kind) => error instanceof kind)) return true;
  return CONNECTION_MESSAGES.some((text) => error.message.includes(text));
}

/** Whether the server was reached, and refuses every connection with these settings. */
export function isEntryRefused(error: unknown): boolean {
  const code = codeOf(error);
  return NO_ENTRY_CODES.some((known) => known === code);
}

/** For the log: which code it came with, if any. */
export function unavailableReason(error: unknown): string {
  const code = codeOf(error);
  return code === undefined ? 'database' : `database: ${code}`;
}

/**
 * Whether the connection of this statement must not be used again. Either the driver has given the statement up, but the
 * connection still runs it: the next user would wait for it, and might commit its transaction. Or its server takes no
 * writes, and by now the address may lead to another one that does.
 */
export function isConnectionSpoilt(error: unknown): boolean {
  return isNativeError(error) && (error.message.includes(READ_TIMEOUT) || codeOf(error) === READ_ONLY);
}

/** Whether a statement was ended before it was done, by its time limit as a rule. */
export function isStatementCanceled(error: unknown): boolean {
  return error instanceof QueryFailedError && codeOf(error) === QUERY_CANCELED;
}

/** Whether a statement failed for locks that others hold. */
export function isLockRefused(error: unknown): boolean {
  return LOCK_CODES.has(codeOf(error) ?? '');
}

/** Name of the unique index that a write ran into; undefined for every other error. */
export function violatedUniqueIndex(error: unknown): string | undefined {
  return violatedConstraint(error, UNIQUE_VIOLATION);
}

/** Name of the foreign key that a write or a deletion ran into; undefined for every other error. */
export function violatedForeignKey(error: unknown): string | undefined {
  return violatedConstraint(error, FOREIGN_KEY_VIOLATION);
}

/** Whether a row could not be deleted because others still refer to it. */
export function isForeignKeyViolation(error: unknown): boolean {
  return error instanceof QueryFailedError && codeOf(error) === FOREIGN_KEY_VIOLATION;
}

/** Whether a statement names a table that is not there: the database has not been set up. */
export function isTableMissing(error: unknown): boolean {
  return error instanceof QueryFailedError && codeOf(error) === UNDEFINED_TABLE;
}

/** Whether a statement failed for what is in it (classes 22 and 23 of SQLSTATE), and would fail again. */
export function isDataRefused(error: unknown): boolean {
  return error instanceof QueryFailedError && /^2[23]/.test(codeOf(error) ?? '');
}

function violatedConstraint(error: unknown, code: string): string | undefined {
  if (!(error instanceof QueryFailedError) || codeOf(error) !== code) return undefined;
  const driverError: unknown = error.driverError;
  if (typeof driverError !== 'object' || driverError === null || !('constraint' in driverError)) return undefined;
  return typeof driverError.constraint === 'string' ? driverError.constraint : undefined;
}

function severityOf(error: unknown): unknown {
  const thrown: unknown = error instanceof QueryFailedError ? error.driverError : error;
  return isNativeError(thrown) && 'severity' in thrown ? thrown.severity : undefined;
}

function codeOf(error: unknown): string | undefined {
  return errorCodeOf(error instanceof QueryFailedError ? error.driverError : error);
}

/** For the terminal: what a database, or its driver, complains of, with the setting that it comes from. */
export function explainDatabaseFailure(cause: unknown): Error {
  if (isOutOfConnections(cause))
    return wrapError('The database of DATABASE_URL has no room for DATABASE_POOL_SIZE', cause);
  const isAway = isDatabaseUnavailable(cause) && !isEntryRefused(cause);
  return wrapError(`The database of DATABASE_URL cannot be ${isAway ? 'reached' : 'used'}`, cause);
}

/** Whether the server, the database or the role has no connection left to give. */
function isOutOfConnections(error: unknown): boolean {
  return codeOf(error) === TOO_MANY_CONNECTIONS;
}
