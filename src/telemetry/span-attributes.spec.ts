import { expect, it } from '@jest/globals';
import { readTraceHeaders } from './trace-headers.js';
import { requestAttributes } from './span-attributes.js';
import { LogFields } from './tracing.js';

it('names the failed targets of a model route on the span of the request, and nothing where none failed', () => {
  const facts = new LogFields();
  const trace = readTraceHeaders({});
  const outcome = {
    method: 'POST',
    scheme: 'http',
    route: '/v1/rerank',
    status: 200,
    isBrokenOff: false,
    metadata: {},
  };
  expect(requestAttributes(trace, { ...outcome, facts })['gateway.failed_targets']).toBeUndefined();
  facts.failed_targets = [{ virtual_key: 'one', model: 'm', error_code: 'provider_timeout' }];
  expect(requestAttributes(trace, { ...outcome, facts })['gateway.failed_targets']).toEqual(['one: provider_timeout']);
});
