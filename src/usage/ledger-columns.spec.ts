import { expect, it } from '@jest/globals';
import { reservationOf } from './__fixtures__/usage.js';
import { ledgerColumns } from './ledger-columns.js';

it('leaves the key column empty for a caller without a key', () => {
  const { dimensions } = reservationOf([]);
  expect(ledgerColumns({ ...dimensions, apiKeyId: null })).toMatchObject({ api_key_id: '' });
});

it('keeps text that fits into its column', () => {
  const { dimensions } = reservationOf([]);
  expect(ledgerColumns(dimensions)).toMatchObject({
    api_key_id: dimensions.apiKeyId,
    provider: 'cohere',
    mcp_tool: null,
    attempt: 1,
  });
  expect(ledgerColumns(dimensions)['metadata']).toBe(dimensions.metadata);
});

it('cuts text that does not fit into its column', () => {
  const { dimensions } = reservationOf([]);
  const columns = ledgerColumns({ ...dimensions, mcpTool: 'x'.repeat(300), metadata: { ['k'.repeat(300)]: 'NUL\0' } });
  expect(columns).toMatchObject({ mcp_tool: 'x'.repeat(255), metadata: { ['k'.repeat(255)]: 'NUL\uFFFD' } });
});
