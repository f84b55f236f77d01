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
  it.each(['/batches/b/output', '/openai/v1/batches/b/output', '/OpenAI/batches/b/output', '/anthropic/v1/batches'])(
    'lists the operations on the same resource for %s, an address without the version or with a name',
    (path) => expect(offeredInstead(path, ROUTES)).toMatch(/^On \/v1\/batches it offers: GET/),
  );

  it.each([
    '/images/generations',
    '/openai/v1/audio/speech',
    '/moderations',
    '/v1beta/models/m:generateContent',
    '/v1alpha/models',
    '/model/m/converse',
    '/api/tags',
  ])('lists all resources for %s, which clients of models ask for', (path) => {
    expect(offeredInstead(path, ROUTES)).toMatch(/^It has these resources: /);
  });

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

  it.each([
    '/',
    '/v1',
    '/favicon.ico',
    '/server/mcp',
    '/chat/completions',
    '/v1x/batches',
    '/openai',
    '/openai/',
    '/openai/mcp',
    '/batch',
    '/health/x',
  ])('says nothing for %s', (path) => expect(offeredInstead(path, ROUTES)).toBeUndefined());
});
