import { describe, expect, it } from '@jest/globals';
import { offeredInstead } from './offered-operations.js';

const ROUTES = [
  { method: 'GET', path: '/v1/batches' },
  { method: 'POST', path: '/v1/batches/:batch_id/cancel' },
  { method: 'POST', path: '/v1/rerank' },
  { method: 'POST', path: '/v2/rerank' },
  { method: 'GET', path: '/health/live' },
  { method: 'POST', path: '/:server_slug/mcp' },
];

describe('offeredInstead', () => {
  it.each(['/v1/batches/b/output', '/v1/batches/', '/V1/Batches/b/c/d'])(
    'lists the operations on the same resource for %s',
    (path) => {
      const offered = 'On /v1/batches it offers: GET /v1/batches, POST /v1/batches/{batch_id}/cancel.';
      expect(offeredInstead(path, ROUTES)).toBe(offered);
    },
  );

  it.each(['/v1/chat/completions', '/v1/models', '/v1/', '/v3/rerank', '/v1//batches'])(
    'lists all resources for %s',
    (path) => {
      expect(offeredInstead(path, ROUTES)).toBe('It has these resources: /v1/batches, /v1/rerank, /v2/rerank.');
    },
  );

  it.each(['/', '/v1', '/favicon.ico', '/server/mcp', '/chat/completions', '/v1x/batches'])(
    'says nothing for %s',
    (path) => expect(offeredInstead(path, ROUTES)).toBeUndefined(),
  );
});
