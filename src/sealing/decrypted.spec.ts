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

  it('opens what was sealed for the place', () => expect(openSealed(sealer, sealed, PLACE)).toBe('secret'));

  it('tells the caller that it is not available, and the log why', () => {
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
  it('gives what opens', () => {
    expect(decryptOr(() => 'secret', 'instead')).toEqual({ value: 'secret', failure: undefined });
  });

  it('goes on with something else where nothing opens, and says why', () => {
    expect(decryptOr(failWith(FAILURE), 'instead')).toEqual({ value: 'instead', failure: FAILURE });
  });

  it.each([new TypeError('a defect'), new GatewayError('internal_error')])('hides nothing else: %s', (error) => {
    expect(() => decryptOr(failWith(error), 'instead')).toThrow(error);
  });
});

describe('incompleteUpdate', () => {
  it('tells the caller what to send, and keeps the reason for the log', () => {
    const error = incompleteUpdate(FAILURE, 'Send again: key.');
    expect(error).toMatchObject({ code: 'secret_unavailable', reason: 'no master key with id k1' });
    expect(error.message).toBe(`${FAILURE.message} Send again: key.`);
  });
});
