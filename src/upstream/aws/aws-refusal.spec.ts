import { expect, it } from '@jest/globals';
import { areCredentialsRefused } from './aws-refusal.js';

it.each<[string | undefined, boolean]>([
  ['UnrecognizedClientException', true],
  ['ExpiredTokenException:http://internal.amazon.com/coral/com.amazon.coral.service/', true],
  ['com.amazon.coral.service#InvalidSignatureException', true],
  ['InvalidClientTokenId', true],
  ['AccessDeniedException', false],
  ['ValidationException', false],
  ['', false],
  [undefined, false],
])('decides by the name of the error whether AWS accepts the credentials: %j', (name, isRefused) => {
  expect(areCredentialsRefused({ status: 403, headers: { 'x-amzn-errortype': name } })).toBe(isRefused);
});
