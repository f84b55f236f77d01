import { describe, expect, it } from '@jest/globals';
import { toTokenError, toVaultError } from './azure-errors.js';
import { SecretError, type SecretErrorCode } from './secret-manager.types.js';

const NOTHING = { answer: undefined, failure: undefined };

describe('toVaultError', () => {
  it('returns a SecretError unchanged', () => {
    const error = new SecretError('timeout', 'late');
    expect(toVaultError(error, { status: 500, text: '' }, [])).toBe(error);
  });

  it('shows nothing of the body of a 200', () => {
    const error = toVaultError(new Error('not parsed: {"value":"sk-1"'), { status: 200, text: '{"value":"sk-1"' }, []);
    expect([error.code, error.detail]).toEqual(['invalid_response', 'the vault answered 200 without a secret']);
  });

  it.each(['', 'null', '[]', '{"error":"text"}', '{"error":{"code":7,"innererror":[]}}', '<html>'])(
    'reads a refusal whose body is %p',
    (text) => {
      const error = toVaultError(new Error('unread'), { status: 403, text }, []);
      expect([error.code, error.detail]).toEqual(['access_denied', 'the vault answered 403 (no code): no message']);
    },
  );

  it('maps other errors of the SDK to manager_failed', () => {
    expect(toVaultError(new TypeError('x is undefined'), undefined, []).code).toBe('manager_failed');
    expect(toVaultError('text', undefined, []).detail).toBe('no reason given');
  });
});

describe('toTokenError', () => {
  it.each<[number, string, SecretErrorCode]>([
    [401, '{"error":"invalid_client"}', 'authentication_failed'],
    [400, '{"error":"invalid_tenant"}', 'authentication_failed'],
    [400, '{"error":"temporarily_unavailable"}', 'manager_failed'],
    [400, '{}', 'invalid_response'],
    [404, '<html>', 'invalid_response'],
    [200, '{"error":"odd"}', 'invalid_response'],
    [429, '', 'throttled'],
    [502, '<html>', 'manager_failed'],
  ])('maps the token answer %i %s to %s', (status, text, code) => {
    expect(toTokenError(new Error('reason'), { answer: { status, text } }, []).code).toBe(code);
  });

  it('distinguishes a machine without managed identities from one that refuses', () => {
    const cause = Object.assign(new Error('network'), { errorCode: 'network_error' });
    const unreachable = new Error('Network unreachable', { cause });
    expect(toTokenError(unreachable, NOTHING, []).code).toBe('unreachable');
    const chain = Object.assign(new Error('chain'), { errors: [new Error('not set up'), unreachable] });
    expect(toTokenError(chain, NOTHING, []).code).toBe('unreachable');
    expect(toTokenError(new Error('refused'), NOTHING, []).code).toBe('authentication_failed');
  });
});
