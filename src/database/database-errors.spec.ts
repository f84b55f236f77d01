import { describe, expect, it } from '@jest/globals';
import {
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
  TransactionNotStartedError,
} from 'typeorm';
import {
  isConnectionSpoilt,
  isDatabaseUnavailable,
  isEntryRefused,
  isDataRefused,
  isForeignKeyViolation,
  isStatementCanceled,
  unavailableReason,
  violatedForeignKey,
  violatedUniqueIndex,
} from './database-errors.js';

interface Facts {
  readonly code?: string;
  readonly constraint?: string;
  readonly severity?: string;
}

/** As the driver throws it. */
function driverError(facts: Facts, message = 'refused'): Error {
  return Object.assign(new Error(message), facts);
}

/** As TypeORM passes it on. */
function failed(facts: Facts): QueryFailedError {
  return new QueryFailedError('INSERT …', [], driverError(facts));
}

describe('violatedUniqueIndex', () => {
  it('names the index that refused a duplicate', () => {
    expect(violatedUniqueIndex(failed({ code: '23505', constraint: 'uq_workspaces_slug' }))).toBe('uq_workspaces_slug');
  });

  it.each([
    ['another refusal', failed({ code: '23503', constraint: 'fk_api_keys_workspace' })],
    ['a duplicate without a name', failed({ code: '23505' })],
    ['an error that did not come from a statement', driverError({ code: '23505', constraint: 'uq_workspaces_slug' })],
    ['text', 'uq_workspaces_slug'],
    ['nothing', undefined],
  ])('finds no unique index in %s', (_what, error) => expect(violatedUniqueIndex(error)).toBeUndefined());
});

describe('unavailableReason', () => {
  it('returns the code, by which a full disk and a lost connection differ', () => {
    expect(unavailableReason(failed({ code: '53100' }))).toBe('database: 53100');
    expect(unavailableReason(driverError({ code: 'ECONNREFUSED' }))).toBe('database: ECONNREFUSED');
  });

  it('returns no code where the driver has none', () => {
    expect(unavailableReason(driverError({}, 'Connection terminated'))).toBe('database');
  });
});

describe('violatedForeignKey', () => {
  it('names the foreign key that refused a row', () => {
    const error = failed({ code: '23503', constraint: 'fk_api_keys_workspace' });
    expect(violatedForeignKey(error)).toBe('fk_api_keys_workspace');
  });

  it.each([failed({ code: '23505', constraint: 'uq_workspaces_slug' }), failed({ code: '23503' }), undefined])(
    'finds no foreign key in %p',
    (error) => expect(violatedForeignKey(error)).toBeUndefined(),
  );
});

describe('isForeignKeyViolation', () => {
  it('recognises the refusal to delete a row that others refer to', () =>
    expect(isForeignKeyViolation(failed({ code: '23503' }))).toBe(true));

  it.each([failed({ code: '23505' }), failed({}), driverError({ code: '23503' }), null])(
    'finds no foreign key violation in %p',
    (error) => expect(isForeignKeyViolation(error)).toBe(false),
  );
});

describe('isDataRefused', () => {
  it.each(['22003', '22P05', '23505', '23514'])('recognises the refused data of %s', (code) =>
    expect(isDataRefused(failed({ code }))).toBe(true),
  );

  it.each([failed({ code: '53100' }), failed({}), driverError({ code: '23505' }), undefined])(
    'finds no refused data in %p',
    (error) => expect(isDataRefused(error)).toBe(false),
  );
});

describe('isStatementCanceled', () => {
  it('recognises a statement that took too long', () =>
    expect(isStatementCanceled(failed({ code: '57014' }))).toBe(true));

  it.each([failed({ code: '57P01' }), failed({}), driverError({ code: '57014' }), undefined])(
    'finds no canceled statement in %p',
    (error) => expect(isStatementCanceled(error)).toBe(false),
  );
});

describe('isDatabaseUnavailable', () => {
  const NETWORK = [
    'ECONNREFUSED',
    'ECONNRESET',
    'ENOTFOUND',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'EHOSTDOWN',
    'ECONNABORTED',
  ];
  const CONNECTIONS = ['57P01', '57P03', '57P05', '53300', '08006', '3D000', '55000', '28000', '28P01'];
  const STATEMENTS = ['55P03', '40P01', '40001', '57014', '25006', '25P03', '25P04', '53100', '53200', '58030'];
  const SIBLINGS = ['53000', '53400', '57P04', '58000', '58P01', 'XX001', 'XX002'];

  it.each([...NETWORK, ...CONNECTIONS, ...STATEMENTS, ...SIBLINGS])(
    'recognises an unavailable database by %s',
    (code) => {
      expect(isDatabaseUnavailable(driverError({ code }))).toBe(true);
      expect(isDatabaseUnavailable(failed({ code }))).toBe(true);
    },
  );

  it.each([QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError, TransactionNotStartedError])(
    'recognises a connection that broke inside a transaction by %p',
    (Kind) => expect(isDatabaseUnavailable(new Kind())).toBe(true),
  );

  it.each([
    ['FATAL', 'XX000', 'could not write init file'],
    ['FATAL', '08P01', 'server login has been failing'],
    ['FATAL', '42501', 'permission denied for database'],
    ['PANIC', 'XX000', 'could not write to log file'],
  ])('recognises an error that ends the connection: %s %s, %s', (severity, code, message) => {
    expect(isDatabaseUnavailable(driverError({ severity, code }, message))).toBe(true);
    expect(isDatabaseUnavailable(failed({ severity, code }))).toBe(true);
  });

  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Query read timeout',
  ])('recognises an unavailable database by the sentence of the driver: %s', (message) => {
    expect(isDatabaseUnavailable(driverError({}, message))).toBe(true);
    expect(isDatabaseUnavailable(new QueryFailedError('SELECT 1', [], driverError({}, message)))).toBe(true);
  });

  it.each([
    ['a duplicate', failed({ code: '23505' })],
    ['a wrong statement', failed({ code: '42P01' })],
    ['a defect of the server in one statement', failed({ code: 'XX000', severity: 'ERROR' })],
    ['a breach of the protocol in one statement', failed({ code: '08P01', severity: 'ERROR' })],
    ['an error without a code', new TypeError('cannot read properties of undefined')],
    ['text', 'ECONNREFUSED'],
    ['nothing', undefined],
  ])('does not take %s for an unavailable database', (_what, error) =>
    expect(isDatabaseUnavailable(error)).toBe(false),
  );
});

describe('isEntryRefused', () => {
  it.each(['3D000', '55000', '28000', '28P01'])('recognises a refused entry by %s', (code) =>
    expect(isEntryRefused(driverError({ code }))).toBe(true),
  );

  it.each([driverError({ code: 'ECONNREFUSED' }), failed({ code: '23505' }), new Error('away'), undefined])(
    'finds no refused entry in %p',
    (error) => expect(isEntryRefused(error)).toBe(false),
  );
});

describe('isConnectionSpoilt', () => {
  it.each([
    ['a server that takes no writes', failed({ code: '25006' })],
    ['a statement that was given up', new QueryFailedError('SELECT 1', [], driverError({}, 'Query read timeout'))],
  ])('gives up the connection after %s', (_what, error) => expect(isConnectionSpoilt(error)).toBe(true));

  it.each([
    ['a lock that others hold', failed({ code: '55P03' })],
    ['a full disk', failed({ code: '53100' })],
    ['text', '25006'],
  ])('keeps the connection after %s', (_what, error) => expect(isConnectionSpoilt(error)).toBe(false));
});
