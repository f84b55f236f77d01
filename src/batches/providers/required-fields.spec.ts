import { describe, expect, it } from '@jest/globals';
import { BATCH_PROVIDERS, FILE_PROVIDERS } from '../batch-providers.js';
import { withBatchFields, withFileFields } from './required-fields.js';

describe('withBatchFields', () => {
  it('adds what a server leaves out, and keeps what it has, in its order', () => {
    const batch = withBatchFields({ status: 'completed', id: 'batch_1', request_counts: null, own: 1 });
    expect(Object.entries(batch).slice(0, 4)).toEqual([
      ['status', 'completed'],
      ['id', 'batch_1'],
      ['request_counts', null],
      ['own', 1],
    ]);
    expect(batch).toMatchObject({ object: 'batch', endpoint: null, input_file_id: null, created_at: null });
    expect(batch).not.toHaveProperty('output_file_id');
  });

  it('returns a complete batch as it is, and what has no id', () => {
    for (const whole of [withBatchFields({ id: 'batch_1' }), { object: 'batch' }])
      expect(withBatchFields(whole)).toBe(whole);
  });
});

it('withFileFields adds the type of the object only', () => {
  expect(withFileFields({ id: 'file-1' })).toEqual({ id: 'file-1', object: 'file' });
  const whole = { id: 'file-1', object: 'file' };
  expect(withFileFields(whole)).toBe(whole);
});

it.each(['azure-openai', 'openai-compatible'])('completes the batches and files of %s', (slug) => {
  for (const provider of [BATCH_PROVIDERS, FILE_PROVIDERS].map((all) => all.find((one) => one.slug === slug)))
    expect(provider).toMatchObject({ kind: 'relay', normalise: expect.any(Function) });
});
