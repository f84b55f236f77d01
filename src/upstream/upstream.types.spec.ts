import { expect, it } from '@jest/globals';
import { passedHeaders } from './upstream.types.js';

it('passes on what a provider says about its limits', () => {
  const headers = {
    'x-ratelimit-remaining-requests': '59',
    'openai-processing-ms': '12',
    'openai-poll-after-ms': '500',
    'x-ratelimit-reset-tokens': ['6m0s', 'twice'],
  };
  expect(passedHeaders(headers)).toEqual({ ...headers, 'x-ratelimit-reset-tokens': '6m0s' });
});

it.each([
  { 'set-cookie': 'a=b' },
  { 'x-request-id': 'r' },
  { 'not-openai-x': '1' },
  { 'x-ratelimit-limit': 'a\r\nset-cookie: b' },
  { 'x-ratelimit-limit': 'é' },
  { 'x-ratelimit-limit': 'x'.repeat(257) },
  { 'openai-poll-after-ms': 'soon' },
  { 'openai-version': undefined },
])('passes nothing else on: %j', (headers) => expect(passedHeaders(headers)).toEqual({}));

it('passes a bounded number of headers on', () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`x-ratelimit-${index}`, '1']));
  expect(Object.keys(passedHeaders(many))).toHaveLength(32);
});
