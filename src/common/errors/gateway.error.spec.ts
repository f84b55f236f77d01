import { expect, it } from '@jest/globals';
import { GatewayError } from './gateway.error.js';

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
