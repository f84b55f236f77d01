import { describe, expect, it } from '@jest/globals';
import { toErrorEnvelope } from './error-envelope.js';
import { type ErrorDetail, GatewayError, invalidFields } from './gateway.error.js';

it('withHeaders changes only the headers of an error', () => {
  const options = {
    message: 'No.',
    param: 'model',
    details: [{ param: 'model', message: 'model is unknown' }],
    status: 404,
    headers: { allow: 'GET', 'retry-after': '1' },
    reason: 'why',
    cause: new Error('the cause'),
  };
  const error = new GatewayError('provider_rejected', options).withHeaders({ 'retry-after': '2', deprecation: '@1' });
  const headers = { allow: 'GET', 'retry-after': '2', deprecation: '@1' };
  expect(error).toMatchObject({ ...options, headers, code: 'provider_rejected', source: 'provider' });
});

it('withHeaders does not set a param', () => {
  expect(new GatewayError('not_found').withHeaders({ allow: 'GET' }).param).toBeNull();
});

describe('invalidFields', () => {
  const broken = (count: number, name = 'field'): readonly ErrorDetail[] =>
    Array.from({ length: count }, (_, index) => {
      const param = `${index}.${name}`;
      return { param, message: `${param} is not a known field` };
    });
  const sizeOf = (error: GatewayError): number => Buffer.byteLength(JSON.stringify(toErrorEnvelope(error)));

  it.each([
    [1, '0.field is not a known field', 1],
    [2, '0.field is not a known field (and 1 more)', 2],
    [20, '0.field is not a known field (and 19 more)', 20],
    [100_000, '0.field is not a known field (and 99999 more)', 20],
  ])('shows the first of %d broken rules in the message, and at most 20 in the details', (count, message, shown) => {
    const error = invalidFields(broken(count));
    expect(error).toMatchObject({ message, param: '0.field' });
    expect(error.details).toEqual(broken(count).slice(0, shown));
  });

  it.each([
    ['long', 'x'.repeat(1_000_000)],
    ['long when they are escaped', '\0'.repeat(1_000_000)],
    ['long in UTF-8', '検'.repeat(1_000_000)],
    ['medium', '\0'.repeat(180)],
  ])('keeps a response below 20 KB when the names of fields are %s', (_what, name) => {
    const error = invalidFields(broken(21, name));
    expect(sizeOf(error)).toBeLessThan(20_000);
    expect(error.details?.length).toBeGreaterThan(1);
    expect(error.details?.[0]?.message).toMatch(/ is not a known field$/);
  });
});
