import { expect, it } from '@jest/globals';
import type { UpstreamHeaders } from '../upstream/upstream.types.js';
import { requestIdOf } from './observed-call.js';

it.each<readonly [UpstreamHeaders, string | undefined]>([
  [{ 'x-request-id': 'req_1', 'apim-request-id': 'a' }, 'req_1'],
  [{ 'x-amzn-requestid': '7f3c' }, '7f3c'],
  [{ 'x-request-id': 'two words', 'apim-request-id': 'a' }, 'a'],
  [{ 'x-request-id': 'x'.repeat(128) }, 'x'.repeat(128)],
  [{ 'x-request-id': 'x'.repeat(129) }, undefined],
  [{ 'x-request-id': 'a\u0000' }, undefined],
  [{ 'x-request-id': '' }, undefined],
  [{}, undefined],
])('reads the id of a request in %j as %j', (headers, id) => expect(requestIdOf(headers)).toBe(id));
