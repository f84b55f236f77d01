import { describe, expect, it } from '@jest/globals';
import { forEvery } from '../../../test/support/for-every.js';
import { ERROR_CODES } from './error-codes.js';
import { toErrorEnvelope } from './error-envelope.js';
import { GatewayError, invalidField, invalidFields } from './gateway.error.js';

const CODES = Object.entries(ERROR_CODES).map((row) => [row[0], row] as const);

describe('toErrorEnvelope', () => {
  it('writes only the documented fields', () => {
    expect(toErrorEnvelope(new GatewayError('not_found'))).toEqual({
      error: {
        message: ERROR_CODES.not_found.message,
        type: 'not_found_error',
        code: 'not_found',
        param: null,
        source: 'gateway',
      },
    });
  });

  it('lists the broken rules of a request', () => {
    const { error } = toErrorEnvelope(invalidField('top_n', 'must be an integer'));
    expect(error).toMatchObject({
      param: 'top_n',
      details: [{ param: 'top_n', message: 'top_n must be an integer' }],
    });
  });

  it('lists the usage limits that refuse a call', () => {
    const limit = {
      policy_id: 'p-1',
      name: 'Search',
      type: 'cost' as const,
      value_key: 'api_key:k-1',
      credit_limit: 10,
      current_usage: 9.5,
      reserved: 0.5,
      next_reset_at: null,
    };
    const { error } = toErrorEnvelope(new GatewayError('usage_limit_exceeded', { limits: [limit] }));
    expect(error).toMatchObject({ code: 'usage_limit_exceeded', param: null, details: [limit] });
  });

  it('shows neither the reason, nor the cause, nor the stack', () => {
    const cause = new Error('hunter2');
    const error = new GatewayError('secret_unavailable', { reason: 'hunter2', cause });
    expect(JSON.stringify(toErrorEnvelope(error))).not.toMatch(/hunter2|spec\.ts/);
  });
});

describe('GatewayError', () => {
  it('takes status, type, source and message from the table', () => {
    expect(new GatewayError('provider_timeout')).toMatchObject({ status: 504, source: 'provider' });
  });

  it('keeps the status of a provider', () => {
    expect(new GatewayError('provider_rejected', { status: 422 }).status).toBe(422);
  });

  it('names the first of several broken rules, unless param is given', () => {
    const details = [
      { param: 'a', message: 'a is wrong' },
      { param: 'b', message: 'b is wrong' },
    ];
    expect(new GatewayError('validation_failed', { details }).param).toBe('a');
    expect(new GatewayError('validation_failed', { details, param: 'b' }).param).toBe('b');
    expect(new GatewayError('validation_failed').param).toBeNull();
    expect(invalidFields(details)).toMatchObject({ message: 'a is wrong (and 1 more)', param: 'a', details });
  });
});

describe('the table of errors', () => {
  it('blames the provider only where the code says so', () =>
    forEvery(CODES, ([code, entry]) => {
      const isTheProviders = code.startsWith('provider_') && code !== 'provider_not_supported';
      expect(entry.source).toBe(isTheProviders ? 'provider' : 'gateway');
    }));
});
