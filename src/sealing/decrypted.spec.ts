import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway.error.js';
import { KeyRing, parseMasterKey } from './key-ring.js';
import { incompleteUpdate, decryptOr, openSealed } from './decrypted.js';
import { type SealedPlace, Sealer } from './sealer.js';

const FAILURE = new GatewayError('secret_unavailable', { reason: 'no master key with id k1' });

function failWith(error: Error): () => never {
  return () => {
    throw error;
  };
}

describe('openSealed', () => {
  const PLACE: SealedPlace = { organisationId: 'org-1', table: 'virtual_keys', rowId: 'row-1', field: 'sealed_key' };
  const sealer = new Sealer(new KeyRing(parseMasterKey(Buffer.alloc(32, 1).toString('base64'))));
  const sealed = sealer.seal('secret', PLACE);

  it('opens a value that was sealed for the place', () => expect(openSealed(sealer, sealed, PLACE)).toBe('secret'));

  it('returns secret unavailable to the caller and the reason to the log', () => {
    const open = (message?: string): string => openSealed(sealer, sealed, { ...PLACE, rowId: 'row-2' }, message);
    expect(open).toThrow(
      expect.objectContaining({
        code: 'secret_unavailable',
        message: FAILURE.message,
        reason: expect.stringContaining('does not open'),
      }),
    );
    expect(() => open('It does not open.')).toThrow(expect.objectContaining({ message: 'It does not open.' }));
  });
});

describe('openedOr', () => {
  it('returns the value that opens', () => {
    expect(decryptOr(() => 'secret', 'instead')).toEqual({ value: 'secret', failure: undefined });
  });

  it('returns the fallback and the failure when the value does not open', () => {
    expect(decryptOr(failWith(FAILURE), 'instead')).toEqual({ value: 'instead', failure: FAILURE });
  });

  it.each([new TypeError('a defect'), new GatewayError('internal_error')])(
    'rethrows every other error: %s',
    (error) => {
      expect(() => decryptOr(failWith(error), 'instead')).toThrow(error);
    },
  );
});

describe('incompleteUpdate', () => {
  it('names the fields that the caller has to send and keeps the reason for the log', () => {
    const error = incompleteUpdate(FAILURE, 'Send again: key.');
    expect(error).toMatchObject({ code: 'secret_unavailable', reason: 'no master key with id k1' });
    expect(error.message).toBe(`${FAILURE.message} Send again: key.`);
  });
});
